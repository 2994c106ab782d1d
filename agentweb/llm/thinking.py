"""Whether a model is asked to think before it answers: always, never, or for tasks that look complex."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import Json, Message, ToolResult, UserMessage
from agentweb.engine.ports import ModelRequest
from agentweb.llm.config import ModelConfig, Thinking

ON: Mapping[str, Json] = {"reasoning_effort": "medium"}
OFF: Mapping[str, Json] = {"reasoning_effort": "none"}

LONG_TASK = 400  # characters of a message; Chinese says three times as much in each
MANY_PARTS = 3  # questions, or entries of a list
MANY_RESULTS = 4  # of tools: what takes so many calls was no small thing
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_PARTS = re.compile(r"[?？]|^[ \t]*(?:[-*•]|\d+[.)、])", re.MULTILINE)
_HARD = re.compile(
    r"\b(?:analy[sz]\w*|compar\w+|evaluat\w+|plan(?:ning)?|design\w*|prove|proof|deriv\w+|debug\w*|refactor\w*"
    r"|optimi[sz]\w*|step by step|trade-?offs?|root cause|why)\b"
    r"|分析|比较|评估|规划|计划|设计|证明|推导|调试|重构|优化|一步一步|逐步|权衡|原因|为什么",
    re.IGNORECASE,
)


def thinking_fields(config: ModelConfig, request: ModelRequest) -> Mapping[str, Any]:
    """What the body holds for it; nothing where the server is left to decide."""
    if config.thinking is Thinking.AS_IT_DOES:
        return {}
    return (config.thinking_on or ON) if wanted(config.thinking, request) else (config.thinking_off or OFF)


def wanted(thinking: Thinking, request: ModelRequest) -> bool:
    """A summary and the last words at a limit need no thought of their own, unless it is always asked for."""
    if thinking is Thinking.COMPLEX:
        return request.purpose is Purpose.TURN and is_complex(request.messages)
    return thinking is Thinking.ALWAYS


def is_complex(messages: Sequence[Message]) -> bool:
    """Judged by what people asked for last and by how it went since: a long task or one of several parts, words that
    ask for more than a look, a call that failed, or many calls."""
    last = max((at for at, one in enumerate(messages) if isinstance(one, UserMessage) and one.about is None), default=0)
    task = messages[last] if messages else None
    results = [one for one in messages[last:] if isinstance(one, ToolResult)]
    if len(results) >= MANY_RESULTS or any(result.is_error for result in results):
        return True
    return isinstance(task, UserMessage) and _is_complex_task(task.text)


def _is_complex_task(text: str) -> bool:
    size = len(text) + 2 * len(_CHINESE.findall(text[:LONG_TASK]))
    return size >= LONG_TASK or len(_PARTS.findall(text)) >= MANY_PARTS or _HARD.search(text) is not None
