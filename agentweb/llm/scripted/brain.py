"""Chooses what the scripted model does: the task that fits the question, and the wrap-up when a limit is reached."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentweb.engine.messages import Json
from agentweb.llm.scripted import everyday, files, projects, snake, talk
from agentweb.llm.scripted.phrases import first_line, what, with_notes
from agentweb.llm.scripted.scene import (
    Asked,
    Fate,
    Scene,
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
        _has(r"malformed|broken (arguments|json)|invalid (arguments|json)|参数(损坏|错误|有误)|(损坏|错误|坏)的?参数"),
        files.show_malformed,
    ),
    (
        _has(
            r"unused|not (used|needed)|unneeded|superfluous|dead|clean ?up|没(有)?用|未使用|不用|多余|无用|用不到|清理",
            r"dependenc|package|requirement|librar|依赖|包|库",
        ),
        projects.remove_unused,
    ),
    (_has(r"typescript|tsconfig|\bts\b", r"strict|严格"), projects.make_strict),
    (
        _has(
            r"fail|error|broken|does not work|go(es)? wrong|missing file|失败|出错|报错|错误",
            r"tool|call|file|read|工具|调用|文件",
        ),
        files.show_failure,
    ),
    (_has(r"weather|forecast|temperature|outdoors?\b|rain|sunny|天气|气温|户外|下雨|温度"), everyday.compare_weather),
    (
        _has(
            r"\blong(er)?\b|lengthy|detailed|\b\d{3,} words|长篇|长文|很长|长一点|详细",
            r"text|answer|essay|article|story|document|write|文|篇|写|回答|故事",
        ),
        talk.write_long,
    ),
    (_has(r"\b(delete|erase|remove|wipe|clear)\b|删除|删掉|清空|移除"), files.delete_files),
    (
        _has(
            r"\b(write|create|save|make|put)\b|写|新建|创建|保存", r"\bfiles?\b|\bnote\b|\w\.\w{2,4}\b|文件|便条|笔记"
        ),
        files.write_note,
    ),
    (_has(r"\b(list|which|what|show)\b|列出|有哪些|有什么|查看", r"\bfiles\b|workspace|文件|工作区"), files.show_files),
    (_has(r"\b(read|show|open|print|display)\b|读取|打开|显示|看看", r"\w\.\w{1,5}\b"), files.show_file),
    (
        _has(
            r"\bdate\b|\bwhat day\b|\bwhich day\b|day (of the week )?(is|are)|\bday\b.{0,20}\btoday\b"
            r"|what time|current time|time is it"
            r"|几号|几月|日期|星期几|周几|礼拜几|几点|现在.{0,3}时间|今天是什么日子|哪一天"
        ),
        everyday.tell_date,
    ),
    (_has(r"calculat|comput|how much is|what('s| is)|sum of|work out|equals?|计算|等于|算|多少"), everyday.calculate),
)
_GO_ON = re.compile(
    r"\s*(please\s+)?(continue|go on|carry on|keep going|proceed|继续|接着|请继续|go ahead).{0,40}$", re.IGNORECASE
)


def respond(body: Mapping[str, Json]) -> Turn:
    """The turn for a request body."""
    messages = body.get("messages") or []
    tools = tool_names(body) if body.get("tool_choice") != "none" else frozenset()
    scene, task = _read(messages, tool_names(body))
    if asks_to_wrap_up(body) or (body.get("tool_choice") == "none" and body.get("tools")):
        return wrap_up(replace(scene, wrap_up=True), task)
    turn = task(replace(scene, tools=tools))
    return turn if turn.calls else replace(turn, text=with_notes(scene, turn.text))


def find_task(question: str) -> Task | None:
    """The task that fits; sums are only such when there is something to work out."""
    for pattern, task in _TASKS:
        if pattern.match(question) and (task is not everyday.calculate or everyday.find_sum(question)):
            return task
    return (
        everyday.calculate if re.fullmatch(r"[\s\d.()+*/×÷^=?-]+", question) and everyday.find_sum(question) else None
    )


def _read(messages: list[Mapping[str, Json]], tools: frozenset[str]) -> tuple[Scene, Task]:
    """The question that is being worked on: the latest that fits a task, or an older one that is to go on."""
    current, earlier = read_questions(messages)
    chosen, task = _latest_known(current)
    if task is None and current and _GO_ON.match(current[-1].text):
        chosen, task = _latest_known(earlier)
        if chosen:
            current = [chosen]
    if chosen is None:
        chosen = current[0] if current else Asked(len(messages), "")
    notes = tuple(one.text for one in current if one.position > chosen.position) if task else ()
    scene = Scene(chosen.text, notes, read_results(messages, chosen.position), tools)
    return scene, task or talk.introduce


def _latest_known(asked: list[Asked]) -> tuple[Asked | None, Task | None]:
    for one in reversed(asked):
        task = find_task(one.text)
        if task:
            return one, task
    return None, None


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
