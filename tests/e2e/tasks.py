"""The example tasks: what to ask, in several words, and what must come of it whichever way it is asked."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.e2e.program import Told

BEFORE_OVER_AFTER = r"(?s)(Beijing|北京).*26 °C.*(Shenzhen|深圳).*31 °C"
NEVER_IMPORTED = ("colorama", "python-dateutil")


@dataclass(frozen=True)
class Task:
    """``asked``: calls that a person must approve. ``turns``: the fewest and the most."""

    agent: str
    english: str
    chinese: str
    otherwise: str
    names: list[str]
    turns: tuple[int, int]
    answer: str
    asked: int = 0
    outcome: str = "answered"
    failed: set[str] = field(default_factory=set)
    files: Callable[[dict[str, str]], bool] = lambda files: not files

    def check(self, told: Told) -> None:
        assert told.outcome == self.outcome
        assert sorted(told.names) == sorted(self.names)
        assert {name for name, status in told.calls if status == "failed"} == self.failed
        assert {status for _name, status in told.calls} <= {"finished", "failed"}
        assert told.asked == self.asked
        assert re.search(self.answer, told.answer), told.answer
        assert self.files(dict(told.files)), told.files
        self._check_totals(told)

    def _check_totals(self, told: Told) -> None:
        usage = told.usage
        fewest, most = self.turns
        assert fewest <= usage["turns"] <= most
        assert usage["model_calls"] >= usage["turns"]
        assert usage["tool_calls"] == len(self.names)
        assert usage["input_tokens"] > 0 and usage["output_tokens"] > 0 and usage["seconds"] > 0
        assert float(usage["cost"]) == 0


def today() -> str:
    """A pattern for the date, whichever way it is written; the day may change while the test runs."""
    days = [datetime.now(UTC) + timedelta(days=days) for days in (0, 1)]
    return "|".join(f"{day:%Y-%m-%d}|{day.year}年{day.month}月{day.day}日" for day in days)


def only_used_dependencies(files: dict[str, str]) -> bool:
    manifest = files["pyproject.toml"]
    return not any(name in manifest for name in NEVER_IMPORTED) and "requests" in manifest and "PyYAML" in manifest


def strict(files: dict[str, str]) -> bool:
    return '"strict": true' in files["tsconfig.json"] and "false" not in files["tsconfig.json"]


TASKS = {
    "date": Task(
        "Assistant",
        "What is the date today?",
        "今天是几号？",
        "Could you tell me which day it is",
        names=["current_time"],
        turns=(2, 2),
        answer=today(),
    ),
    "weather": Task(
        "Assistant",
        "Compare today's weather in Beijing and Shenzhen for outdoor activity",
        "比较今天北京和深圳的天气，哪里更适合户外活动？",
        "I want to go running outdoors today: rather in Shenzhen or in Beijing?",
        names=["current_time", "weather", "weather"],
        turns=(3, 5),
        answer=BEFORE_OVER_AFTER,
    ),
    "snake": Task(
        "Builder",
        "Make a snake game as snake.html, snake.css, snake.js",
        "写一个贪吃蛇游戏，分成 snake.html、snake.css、snake.js 三个文件",
        "I would like to play Snake in my browser",
        names=["write_file"] * 3,
        turns=(2, 2),
        answer="snake.html",
        asked=3,
        files=lambda files: set(files) == {"snake.html", "snake.css", "snake.js"},
    ),
    "dependencies": Task(
        "Builder",
        "Find the unused dependencies of this small project and remove them",
        "找出这个小项目里没有用到的依赖并移除",
        "Clean up the packages that nobody imports",
        names=["list_files", *["write_file"] * 3, *["read_file"] * 3, "edit_file"],
        turns=(5, 5),
        answer="colorama",
        asked=4,
        files=only_used_dependencies,
    ),
    "typescript": Task(
        "Builder",
        "Make the TypeScript configuration strict",
        "把 TypeScript 配置改为严格模式",
        "Please tighten my tsconfig.json, I want it stronger",
        names=["list_files", "write_file", "read_file", "write_file"],
        turns=(5, 5),
        answer="`strict`|strict",
        asked=2,
        files=strict,
    ),
    "turn limit": Task(
        "Hasty",
        "Compare today's weather in Beijing and Shenzhen for outdoor activity",
        "比较今天北京和深圳的天气，哪里更适合户外活动？",
        "Shenzhen or Beijing, where is it nicer outdoors today?",
        names=["current_time"],
        turns=(1, 1),
        answer="Not finished|未完成",
        outcome="limit_reached",
    ),
    "failing tool": Task(
        "Builder",
        "Show me a failing tool",
        "演示一个失败的工具",
        "What happens when you try to read a file that does not exist?",
        names=["read_file", "list_files"],
        turns=(3, 3),
        answer="no-such-file.txt",
        failed={"read_file"},
    ),
}
