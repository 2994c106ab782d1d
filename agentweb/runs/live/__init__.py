"""What people see while a run works: frames in a short Redis stream, the open message's text, and those who follow.

Rows are the truth. Everything here may be lost with Redis, and whoever follows a run then reads the rows.
"""

from agentweb.runs.live.cursor import START, Cursor
from agentweb.runs.live.follow import follow, follow_conversation
from agentweb.runs.live.hub import Hub, hub
from agentweb.runs.live.publish import answers, backlog, control, publish_events, publish_hint, publish_touch
from agentweb.runs.live.window import Frame, Open, Window, range_after, read_window, snapshot

__all__ = [
    "START",
    "Cursor",
    "Frame",
    "Hub",
    "Open",
    "Window",
    "answers",
    "backlog",
    "control",
    "follow",
    "follow_conversation",
    "hub",
    "publish_events",
    "publish_hint",
    "publish_touch",
    "range_after",
    "read_window",
    "snapshot",
]
