"""Sentences that several scripted tasks share."""

from collections.abc import Iterable

from agentweb.llm.scripted.scene import Fate, Scene, Seen
from agentweb.llm.scripted.turn import Turn

_REFUSED = (Fate.REJECTED, Fate.NOT_RUN)


def first_line(text: str, limit: int = 160) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) <= limit else line[: limit - 1] + "…"


def what(one: Seen) -> str:
    """The call in a few words: the tool and the file, place or expression it was about."""
    about = one.path or str(one.arguments.get("city") or one.arguments.get("expression") or "")
    return f"`{one.name}` ({about})" if about else f"`{one.name}`"


def without_tools(scene: Scene, *needed: str) -> Turn | None:
    """The answer when the agent lacks what a task needs."""
    missing = ", ".join(f"`{name}`" for name in scene.lacks(*needed))
    if not missing:
        return None
    return Turn(
        text=scene.say(
            f"For this I would need the tool {missing}, which this agent does not have. An agent with workspace tools "
            "can do it.",
            f"这件事需要工具 {missing}，而当前的智能体没有。请换一个带有工作区工具的智能体。",
        )
    )


def stopped_by_people(scene: Scene, results: Iterable[Seen]) -> Turn | None:
    """The answer when a call that the task needs was rejected or not allowed: say so and ask what to do instead."""
    results = list(results)
    refused = [one for one in results if one.fate in _REFUSED]
    if not refused:
        return None
    lines = [_refusal(scene, one) for one in refused]
    kept = [one for one in results if one.fate is Fate.DONE and one.name in ("write_file", "edit_file", "delete_file")]
    if kept:
        lines += ["", scene.say("What did run:", "已经执行的：")] + [f"- {what(one)}" for one in kept]
    return Turn(
        thinking=scene.say(
            "A call was not allowed to run, so I stop here and ask.", "有一个调用没有获准执行，我停下来询问。"
        ),
        text="\n".join([*lines, "", scene.say("What should I do instead?", "接下来希望我怎么做？")]),
    )


def _refusal(scene: Scene, one: Seen) -> str:
    if one.fate is Fate.NOT_RUN:
        return scene.say(
            f"{what(one)} was not run: {first_line(one.content)}", f"{what(one)} 没有执行：{first_line(one.content)}"
        )
    because = f"“{one.reason}”" if one.reason else ""
    return scene.say(
        f"{what(one)} was rejected{f', with the reason {because}' if because else ''}, so nothing was changed by it.",
        f"{what(one)} 被拒绝了{f'，理由是{because}' if because else ''}，因此它没有改动任何内容。",
    )


def stopped_by_failure(scene: Scene, results: Iterable[Seen]) -> Turn | None:
    """The answer when a call that the task needs failed."""
    failed = [one for one in results if one.fate is Fate.FAILED]
    if not failed:
        return None
    lines = [f"- {what(one)}: {first_line(one.content)}" for one in failed]
    return Turn(
        text="\n".join(
            [
                scene.say("This did not work:", "没有成功："),
                *lines,
                "",
                scene.say(
                    "I do not repeat a call that failed. Tell me how to go on.",
                    "失败的调用我不会原样重试。请告诉我如何继续。",
                ),
            ]
        )
    )


def stopped(scene: Scene, results: Iterable[Seen]) -> Turn | None:
    results = list(results)
    return stopped_by_people(scene, results) or stopped_by_failure(scene, results)


def changes_by_people(scene: Scene, results: Iterable[Seen]) -> list[str]:
    """A line for each call whose arguments a person changed before it ran."""
    return [
        scene.say(
            f"- {one.changed_by} changed the arguments of {what(one)} before it ran; the above is what happened.",
            f"- {one.changed_by} 在执行前修改了 {what(one)} 的参数；以上是实际执行的内容。",
        )
        for one in results
        if one.changed_by
    ]


def with_notes(scene: Scene, text: str) -> str:
    """The answer, with what people wrote meanwhile acknowledged."""
    if not scene.notes or not text:
        return text
    notes = "\n".join(f"> {first_line(note)}" for note in scene.notes)
    heard = scene.say(
        "I also read what you wrote meanwhile; a scripted model cannot act on it, but a real one would:",
        "我也看到了你中途写的内容；脚本模型无法据此行动，真实模型则可以：",
    )
    return f"{text}\n\n{heard}\n\n{notes}"
