"""Scripted tasks on single files: list, read, write, delete, and a call that fails on purpose."""

import re

from agentweb.llm.scripted.listing import listed_paths, whole_text
from agentweb.llm.scripted.phrases import changes_by_people, first_line, stopped, what, without_tools
from agentweb.llm.scripted.scene import Fate, Scene, Seen
from agentweb.llm.scripted.turn import Call, Turn

_PATH = re.compile(r"(?<![\w/.])((?:[\w-]+/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,7})\b", re.ASCII)
_QUOTED = re.compile(r"[“\"「]([^”\"」]+)[”\"」]")
_MOST_DELETED = 5
_SAMPLES = {"old-notes.txt": "Notes from last year.\n", "draft.txt": "A first draft.\n"}
_MISSING = "no-such-file.txt"


def named_paths(question: str) -> list[str]:
    """Names of files in a question, such as notes.txt or src/main.py."""
    return list(dict.fromkeys(_PATH.findall(question)))


def show_files(scene: Scene) -> Turn:
    results = scene.seen("list_files")
    if not results:
        return without_tools(scene, "list_files") or Turn(calls=(Call.of("list_files"),))
    paths = listed_paths(results[-1].content)
    if not paths:
        return stopped(scene, results) or Turn(text=scene.say("The workspace is empty.", "工作区是空的。"))
    listed = "\n".join(f"- {line}" for line in results[-1].content.strip().splitlines())
    return stopped(scene, results) or Turn(text=scene.say("In the workspace:", "工作区中有：") + f"\n\n{listed}")


def show_file(scene: Scene) -> Turn:
    results = scene.seen("read_file")
    if not results:
        path = (named_paths(scene.question) or ["README.md"])[0]
        return without_tools(scene, "read_file") or Turn(calls=(Call.of("read_file", path=path),))
    text = whole_text(results[-1])
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return stopped(scene, results) or Turn(text=f"`{results[-1].path}`:\n\n{fence}\n{text.rstrip()}\n{fence}")


def write_note(scene: Scene) -> Turn:
    results = scene.seen("write_file")
    if not results:
        path = (named_paths(scene.question) or ["note.txt"])[0]
        quoted = [text for text in _QUOTED.findall(scene.question) if text != path]
        content = quoted[0] if quoted else scene.say("A note by the scripted model.", "脚本模型写下的便条。")
        return without_tools(scene, "write_file") or Turn(
            thinking=scene.say(
                "Writing changes the workspace, so a person will be asked.", "写入会改变工作区，因此会先询问。"
            ),
            calls=(Call.of("write_file", path=path, content=content + "\n"),),
        )
    wrote = results[-1]
    text = first_line(str(wrote.arguments.get("content", "")))
    said = scene.say(f"`{wrote.path}` was written. It begins: “{text}”", f"已写入 `{wrote.path}`，开头是：“{text}”")
    return stopped(scene, results) or Turn(text="\n".join([said, *changes_by_people(scene, results)]))


def delete_files(scene: Scene) -> Turn:
    lacking = without_tools(scene, "list_files", "delete_file")
    if lacking:
        return lacking
    deletions = scene.seen("delete_file")
    if deletions:
        return _deleted(scene, deletions)
    if not scene.seen("list_files"):
        return Turn(
            thinking=scene.say("See what is there before deleting anything.", "删除之前先看看有哪些文件。"),
            calls=(Call.of("list_files"),),
        )
    halted = stopped(scene, [*scene.seen("list_files"), *scene.seen("write_file")])
    if halted:
        return halted
    paths = _to_delete(scene)
    if not paths:
        return _samples_first(scene)
    return Turn(
        thinking=scene.say(
            "Deleting cannot be undone; each file is asked about.", "删除无法撤销，每个文件都会单独询问。"
        ),
        text=scene.say(
            "I ask to delete one file." if len(paths) == 1 else f"I ask to delete {len(paths)} files.",
            f"请求删除 {len(paths)} 个文件。",
        ),
        calls=tuple(Call.of("delete_file", path=path) for path in paths),
    )


def _to_delete(scene: Scene) -> list[str]:
    named = named_paths(scene.question)
    there = [path for one in scene.done("list_files") for path in listed_paths(one.content)]
    there = [one.path for one in scene.done("write_file")] or there
    return named or there[:_MOST_DELETED]


def _samples_first(scene: Scene) -> Turn:
    return without_tools(scene, "write_file") or Turn(
        text=scene.say(
            "The workspace is empty, so I put two sample files into it first.", "工作区是空的，我先放入两个示例文件。"
        ),
        calls=tuple(Call.of("write_file", path=path, content=text) for path, text in _SAMPLES.items()),
    )


def _deleted(scene: Scene, deletions: list[Seen]) -> Turn:
    gone = [one for one in deletions if one.fate is Fate.DONE]
    halted = stopped(scene, deletions)
    if halted:
        return halted
    lines = [scene.say("Deleted:", "已删除："), "", *(f"- `{one.path}`" for one in gone)]
    return Turn(text="\n".join(lines + changes_by_people(scene, deletions)))


def show_failure(scene: Scene) -> Turn:
    lacking = without_tools(scene, "read_file", "list_files")
    if lacking:
        return lacking
    reads, lists = scene.seen("read_file"), scene.seen("list_files")
    if not reads:
        return Turn(
            thinking=scene.say(
                "I read a file that is not there, to show what happens.", "我去读一个不存在的文件，看看会怎样。"
            ),
            calls=(Call.of("read_file", path=_MISSING),),
        )
    if not lists:
        return Turn(
            thinking=scene.say(
                "The error came back as text. I use another tool instead of trying the same again.",
                "错误以文本形式返回。我换一个工具，而不是重复同样的调用。",
            ),
            calls=(Call.of("list_files"),),
        )
    count = len(listed_paths(lists[-1].content))
    return Turn(
        text=scene.say(
            f"The tool failed, and the run went on:\n\n- {what(reads[0])}: {first_line(reads[0].content)}\n"
            f"- then `list_files` worked and found {count} files.\n\nA failing tool is only text that the model reads.",
            f"工具调用失败了，但运行继续进行：\n\n- {what(reads[0])}：{first_line(reads[0].content)}\n"
            f"- 随后 `list_files` 正常执行，找到 {count} 个文件。\n\n失败的工具对模型来说只是一段文本。",
        )
    )


def show_malformed(scene: Scene) -> Turn:
    lacking = without_tools(scene, "calculator")
    if lacking:
        return lacking
    results = scene.seen("calculator")
    if not results:
        return Turn(
            thinking=scene.say("I send broken arguments on purpose.", "我故意发送损坏的参数。"),
            calls=(Call("calculator", '{"expression": "6*7", }}'),),
        )
    if results[-1].fate is not Fate.DONE and len(results) < 2:
        return Turn(
            thinking=scene.say(
                "They were refused with the reason; now correctly.", "参数被拒绝并说明了原因；现在改正。"
            ),
            calls=(Call.of("calculator", expression="6*7"),),
        )
    refused = first_line(results[0].content)
    return stopped(scene, results[1:]) or Turn(
        text=scene.say(
            f"The broken call was not run: {refused}\n\nThe corrected one gave **{first_line(results[-1].content)}**.",
            f"损坏的调用没有执行：{refused}\n\n改正后的结果是 **{first_line(results[-1].content)}**。",
        )
    )
