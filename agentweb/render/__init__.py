"""Markdown to safe HTML blocks, whole or while it streams. Pure Python: no database, no network, no Django."""

from agentweb.render.document import RENDERER_VERSION, Block, document, html
from agentweb.render.highlight import stylesheet
from agentweb.render.incremental import Incremental
from agentweb.render.ops import Code, Done, Html, Op, Replace, Text

__all__ = [
    "RENDERER_VERSION",
    "Block",
    "Code",
    "Done",
    "Html",
    "Incremental",
    "Op",
    "Replace",
    "Text",
    "document",
    "html",
    "stylesheet",
]
