"""Chooses what the scripted model does: the task that fits the question, and the wrap-up when a limit is reached."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentweb.engine import sentences
from agentweb.engine.messages import Json
from agentweb.llm.config import ToolProtocol
from agentweb.llm.scripted import everyday, files, forms, projects, snake, talk
from agentweb.llm.scripted.phrases import first_line, what, with_notes
from agentweb.llm.scripted.scene import (
    Asked,
    Fate,
    Scene,
    asks_for_notes,
    asks_to_sum_up,
    asks_to_wrap_up,
    read_questions,
    read_results,
    tool_names,
)
from agentweb.llm.scripted.turn import Call, Turn

Task = Callable[[Scene], Turn]


def _has(*patterns: str) -> re.Pattern[str]:
    """All patterns must occur, in any order."""
    return re.compile("".join(f"(?=.*(?:{pattern}))" for pattern in patterns), re.IGNORECASE | re.DOTALL)


# The first row that fits decides, so the more special ones come first.
_TASKS: tuple[tuple[re.Pattern[str], Task], ...] = (
    (_has(r"snake|贪吃蛇|贪食蛇|蛇.{0,4}游戏"), snake.make_snake),
    (
        _has(
            r"malformed|(broken|invalid|bad) (arguments|json)|参数.{0,3}(损坏|错误|有误)|(损坏|错误|坏)的?(工具)?参数"
        ),
        files.show_malformed,
    ),
    (
        _has(
            r"unused|(not|never|n't|nobody|no one|nothing) (being |actually )?(use|need|import)|no longer|unneeded"
            r"|unnecessary|redundant|superfluous|dead|clean ?up"
            r"|没有?(人|被)?(用|使用|导入)|未(被)?使用|不用|多余|无用|用不到|清理",
            r"dependenc|package|requirement|librar|module|依赖|包|库",
        ),
        projects.remove_unused,
    ),
    (
        _has(r"typescript|tsconfig|\bts\b", r"strict|harden|tighten|stronger|safer|严格|收紧|更严"),
        projects.make_strict,
    ),
    (
        _has(
            r"fail|error|broken|does not work|go(es)? wrong|missing file|(does ?n[o']t|not) exist"
            r"|失败|出错|报错|错误|不存在",
            r"tool|call|file|read|工具|调用|文件|读取",
            r"show|demo|example|happen|try|let|see|read|演示|展示|示范|会怎|怎么样|试|看|例子|读取|如何",
        ),
        files.show_failure,
    ),
    (_has(r"weather|forecast|temperature|outdoors?\b|rain|sunny|天气|气温|户外|下雨|温度"), everyday.compare_weather),
    (
        _has(
            r"\blong(er)?\b|lengthy|detailed|\b\d{3,} words|长篇|长文|很长|长一点|长长|详细|\d{3,}.?字",
            r"text|answer|essay|article|story|document|write|文|篇|写|回答|故事",
        ),
        talk.write_long,
    ),
    (_has(r"\b(delete|erase|remove|wipe|clear|get rid)\b|删|清空|移除"), files.delete_files),
    (
        _has(
            r"\b(write|create|save|make|put)\b|写|新建|创建|保存", r"\bfiles?\b|\bnote\b|\w\.\w{2,4}\b|文件|便条|笔记"
        ),
        files.write_note,
    ),
    (_has(r"\b(list|which|what|show)\b|列出|有哪些|有什么|查看", r"\bfiles\b|workspace|文件|工作区"), files.show_files),
    (_has(r"\b(read|show|open|print|display)\b|读取|打开|显示|看看", r"\w\.[a-z]\w{0,4}\b"), files.show_file),
    (
        _has(
            r"\bdate\b|\b(what|which) day\b|day (of the week )?(is|are)|\bday\b.{0,20}\btoday\b"
            r"|what time|current time|time is it"
            r"|几号|几月|日期|星期几|周几|礼拜几|几点|现在.{0,3}时间|什么日子|哪一?天"
        ),
        everyday.tell_date,
    ),
)
_ASKS_FOR_SUM = _has(r"calculat|comput|how much|what|sum of|work out|equal|计算|等于|算|多少|是几|得几|=\s*[?？]?\s*$")
_BARE_SUM = re.compile(r"[\s\d.,()+*/×÷^%=?？xX-]+")
_SAID = re.compile(r"User\b.*?: |Agent|Result: |Note: |- ")
MOST_LINES = 12  # of a summary
_GO_ON = re.compile(
    r"(?:[^:\n]{1,60}:)?\s*(please\s+)?(continue|go on|carry on|keep going|proceed|go ahead|继续|接着|请继续).{0,40}$",
    re.IGNORECASE,
)


def respond(body: Mapping[str, Json]) -> Turn:
    """The turn for a request body in any protocol; in those without tool calls of their own with one call at most."""
    protocol = forms.protocol_of(body)
    if protocol is ToolProtocol.NATIVE:
        return _respond(body)
    plain = forms.native_body(body, protocol)
    if asks_to_wrap_up(plain):
        return _respond(plain)
    return forms.one_by_one(_respond, plain, _chosen(plain["messages"])[0].position)


def _respond(body: Mapping[str, Json]) -> Turn:
    if conversation := asks_to_sum_up(body):
        return sum_up(conversation, asks_for_notes=asks_for_notes(body))
    tools = tool_names(body)
    scene, task = _read(body.get("messages") or [], tools)
    forbidden = body.get("tool_choice") == "none"
    if asks_to_wrap_up(body) or (forbidden and tools):
        return wrap_up(scene, task)
    turn = task(scene)
    return turn if turn.calls else replace(turn, text=with_notes(scene, turn.text))


def find_task(question: str) -> Task | None:
    """The task that fits; a sum is only one when there is something to work out."""
    for pattern, task in _TASKS:
        if pattern.match(question):
            return task
    if _two_cities(question):
        return everyday.compare_weather
    sum_asked = _ASKS_FOR_SUM.match(question) or _BARE_SUM.fullmatch(question)
    return everyday.calculate if sum_asked and everyday.find_sum(question) else None


def _two_cities(question: str) -> bool:
    return len(everyday.named_cities(question)) > 1


def _read(messages: list[Mapping[str, Json]], tools: frozenset[str]) -> tuple[Scene, Task]:
    """What is known of the question that is being worked on."""
    chosen, task, current = _chosen(messages)
    notes = tuple(one.text for one in current if one.position > chosen.position) if task else ()
    scene = Scene(chosen.text, notes, read_results(messages, chosen.position), tools)
    return scene, task or talk.introduce


def _chosen(messages: list[Mapping[str, Json]]) -> tuple[Asked, Task | None, list[Asked]]:
    """The question that is being worked on, with what was said since: the latest that fits a task, or an older one that
    is to go on."""
    current, earlier = read_questions(messages)
    chosen, task = _latest_known(current)
    if task is None and current and _GO_ON.match(current[-1].text):
        chosen, task = _latest_known(earlier)
        if chosen:
            current = [chosen]
    if chosen is None:
        chosen = current[0] if current else Asked(len(messages), "")
    return chosen, task, current


def _latest_known(asked: list[Asked]) -> tuple[Asked | None, Task | None]:
    for one in reversed(asked):
        task = find_task(one.text)
        if task:
            return one, task
    return None, None


def sum_up(conversation: str, *, asks_for_notes: bool) -> Turn:
    """The first line of each message and result, the last of them: a script understands nothing of it."""
    lines = [first_line(part, 120) for part in conversation.split("\n") if _SAID.match(part)]
    text = "\n".join(f"- {line}" for line in lines[-MOST_LINES:]) or f"- {first_line(conversation)}"
    notes = [line for line in lines if line.startswith("User")][-3:] if asks_for_notes else []
    return Turn(text="\n".join([text, "", sentences.NOTES, *(f"- {line}" for line in notes)] if notes else [text]))


def wrap_up(scene: Scene, task: Task) -> Turn:
    """The last message at a limit, from what the results say and from what the script would do next."""
    done = [f"- {what(one)}: {first_line(one.content)}" for one in scene.results if one.fate is Fate.DONE]
    undone = [f"- {what(one)}: {first_line(one.content)}" for one in scene.results if one.fate is not Fate.DONE]
    upcoming = task(scene)
    steps = [f"- {_step(call)}" for call in upcoming.calls]
    nothing = scene.say("- nothing yet", "- 暂无")
    answer = [scene.say("- the answer itself", "- 给出最终回答")]
    return Turn(
        text="\n".join(
            [
                scene.say(
                    "Not finished: the limit of this run was reached before the task was done.",
                    "未完成：在任务结束前达到了本次运行的上限。",
                ),
                "",
                scene.say("**Done**", "**已完成**"),
                *(done or [nothing]),
                "",
                scene.say("**Not done**", "**未完成**"),
                *(undone + (steps or answer)),
                "",
                scene.say("**Next step**", "**下一步**"),
                scene.say(
                    f"Go on with more turns; first {f'comes {steps[0][2:]}' if steps else 'comes the answer'}.",
                    f"增加轮数后继续；接下来先{f'调用 {steps[0][2:]}' if steps else '给出回答'}。",
                ),
            ]
        )
    )


def _step(call: Call) -> str:
    about = next((str(value) for key, value in call.values.items() if key in ("path", "city", "expression")), "")
    return f"`{call.name}` ({about})" if about else f"`{call.name}`"
