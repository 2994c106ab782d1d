"""The words of the interface: found in code and templates, merged into the catalogue of a language, compiled.

Babel does what GNU gettext does elsewhere, so that no system package is needed.
"""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from agentweb.policy import faults, terms_words
from agentweb.policy import words as policy_words
from agentweb.registry import catalog as registry
from agentweb.schema import problems
from agentweb.toolbox import ask_user
from agentweb.ui.labels import field_label_words

LOCALE = "zh_Hans"
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
# What a new site says about its first agents.
DEMO_AGENTS = (
    "Answers questions, computes, and reads pages of the web.",
    "Reads and writes files in the conversation's workspace; asks before it changes anything.",
)
# Fixed, so that the same words always make the same file.
MADE = datetime(2026, 1, 1, tzinfo=UTC)
HEADER = "# Simplified Chinese words of agentweb.\n# `manage.py messages` adds what is new and compiles this file."

Found = tuple[str, tuple[str, ...] | str, str | None]


def folder() -> Path:
    return Path(settings.LOCALE_PATHS[0]) / LOCALE / "LC_MESSAGES"


def new_catalogue() -> Catalog:
    made = Catalog(
        locale=LOCALE,
        project="agentweb",
        version="1",
        msgid_bugs_address="agentweb",
        header_comment=HEADER,
        creation_date=MADE,
        revision_date=MADE,
        last_translator="agentweb",
        language_team="agentweb",
        charset="utf-8",
        fuzzy=False,
    )
    return made


def extracted() -> Catalog:
    """Every string that people may see, with the files in which it stands."""
    found = new_catalogue()
    for place, message, context in (*_from_code(), *_from_templates(), *_from_data()):
        if message and message != ("", ""):
            found.add(message, locations=[(place, 0)], context=context)
    return found


def stored() -> Catalog:
    """The catalogue as it stands in the repository; empty when there is none yet."""
    path = folder() / "django.po"
    if not path.exists():
        return new_catalogue()
    with path.open("rb") as file:
        return read_po(file, locale=LOCALE)


def merged() -> Catalog:
    """All strings there are now, with the translations that there are for them. Nothing is guessed."""
    old, new = stored(), extracted()
    for message in new:
        known = old.get(message.id, message.context) if message.id else None
        if known is not None and not known.fuzzy:
            message.string = known.string
    return new


def untranslated(found: Catalog) -> list[str]:
    """The strings for which the language has no words yet."""
    return [str(message.id) for message in found if message.id and not _complete(message.string)]


def _complete(string: str | tuple[str, ...] | list[str]) -> bool:
    return bool(string) if isinstance(string, str) else bool(string) and all(string)


def po_bytes(found: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, found, width=110, include_lineno=False, sort_output=True)
    return file.getvalue()


def mo_bytes(found: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, found)
    return file.getvalue()


def _from_code() -> Iterator[Found]:
    for path in sorted((settings.BASE_DIR / "agentweb").rglob("*.py")):
        if "migrations" not in path.parts:
            yield from _extract(path, path.read_text())


def _from_templates() -> Iterator[Found]:
    for path in sorted((settings.BASE_DIR / "templates").rglob("*.html")):
        # In brackets the indentation of what a template leaves behind means nothing.
        yield from _extract(path, f"({templatize(path.read_text(), origin=str(path))})")


def _extract(path: Path, code: str) -> Iterator[Found]:
    place = path.relative_to(settings.BASE_DIR).as_posix()
    for _line, message, _comments, context in extract("python", io.BytesIO(code.encode()), KEYWORDS):
        yield place, message, context


def _from_data() -> Iterator[Found]:
    """Strings that are data in layers below Django and are translated where they are shown."""
    for spec in (tool.spec for tool in registry.tools().values()):
        yield "agentweb/toolbox", spec.label, None
        for name in spec.parameters.get("properties", {}):
            yield "agentweb/toolbox", field_label_words(name), None
    for name in ask_user.FIELDS:
        yield "agentweb/toolbox", field_label_words(name), None
    for description in DEMO_AGENTS:
        yield "agentweb/registry", description, None
    words = (*problems.MESSAGES.values(), *problems.TYPE_WORDS.values(), *problems.FORMAT_WORDS.values(), problems.OR)
    for word in words:
        yield "agentweb/schema", word, None
    for word in (*policy_words.PIECES, *terms_words.PIECES, *faults.MESSAGES.values()):
        yield "agentweb/policy", word, None
