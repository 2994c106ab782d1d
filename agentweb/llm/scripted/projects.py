"""Scripted tasks on projects: unused dependencies found and removed, a TypeScript configuration made strict."""

import re
import sys
from collections.abc import Iterable

from agentweb.llm.scripted.listing import listed_paths, whole_text
from agentweb.llm.scripted.phrases import changes_by_people, first_line, stopped, without_tools
from agentweb.llm.scripted.scene import Scene, Seen
from agentweb.llm.scripted.turn import Call, Turn

# --- unused dependencies ------------------------------------------------------------------------------------------

_SAMPLE_PROJECT = {
    "pyproject.toml": """\
[project]
name = "price-report"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = [
    "requests>=2.32",
    "PyYAML>=6.0",
    "colorama>=0.4",
    "rich>=13.7",
    "python-dateutil>=2.9",
]
""",
    "report/main.py": """\
import sys

import requests
import yaml

from report.table import show


def main() -> None:
    with open(sys.argv[1]) as file:
        settings = yaml.safe_load(file)
    show(requests.get(settings["prices"], timeout=10).json())


if __name__ == "__main__":
    main()
""",
    "report/table.py": """\
from rich.console import Console
from rich.table import Table


def show(rows: list[dict]) -> None:
    table = Table("item", "price")
    for row in rows:
        table.add_row(row["item"], str(row["price"]))
    Console().print(table)
""",
}
# What a distribution is imported as, where the names differ.
_MODULES = {
    "pyyaml": "yaml",
    "pillow": "pil",
    "beautifulsoup4": "bs4",
    "scikit-learn": "sklearn",
    "python-dateutil": "dateutil",
    "python-dotenv": "dotenv",
    "opencv-python": "cv2",
    "pyjwt": "jwt",
    "protobuf": "google",
}
_MANIFESTS = ("pyproject.toml", "requirements.txt")
_MOST_SOURCES = 12
_DEPENDENCIES = re.compile(r"^dependencies\s*=\s*\[(.*?)\]", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"""(["'])([A-Za-z0-9][\w.-]*)[^"']*\1""")
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([^\n#]+))", re.MULTILINE)


def remove_unused(scene: Scene) -> Turn:
    lacking = without_tools(scene, "list_files", "read_file", "edit_file")
    if lacking:
        return lacking
    edits = scene.seen("edit_file")
    if edits:
        return stopped(scene, edits) or _removed(scene, edits)
    if not scene.seen("list_files"):
        return Turn(
            thinking=scene.say("First look at what is there.", "先看看工作区里有什么。"), calls=(Call.of("list_files"),)
        )
    halted = stopped(scene, [*scene.seen("list_files"), *scene.seen("write_file")])
    if halted:
        return halted
    paths = _project_paths(scene)
    if not paths:
        return _write_sample(scene)
    read = {one.path: one for one in scene.seen("read_file")}
    missing = [path for path in paths if path not in read]
    if missing:
        return Turn(
            thinking=scene.say("Read the manifest and every source file.", "读取依赖清单和每个源文件。"),
            calls=tuple(Call.of("read_file", path=path) for path in missing),
        )
    return stopped(scene, read.values()) or _propose(scene, [read[path] for path in paths])


def _project_paths(scene: Scene) -> list[str]:
    """The manifest and the Python sources, from the listing or as just written."""
    written = [one.path for one in scene.done("write_file")]
    listed = [path for one in scene.done("list_files") for path in listed_paths(one.content)]
    paths = written or listed
    manifest = next((path for name in _MANIFESTS for path in paths if path.rpartition("/")[2] == name), "")
    sources = [path for path in paths if path.endswith(".py")]
    return [manifest, *sources[:_MOST_SOURCES]] if manifest and sources else []


def _write_sample(scene: Scene) -> Turn:
    return without_tools(scene, "write_file") or Turn(
        thinking=scene.say("There is no Python project here yet.", "这里还没有 Python 项目。"),
        text=scene.say(
            "The workspace holds no Python project, so I put a small sample project into it first.",
            "工作区里没有 Python 项目，我先放入一个小的示例项目。",
        ),
        calls=tuple(Call.of("write_file", path=path, content=text) for path, text in _SAMPLE_PROJECT.items()),
    )


def imported_modules(sources: Iterable[str]) -> set[str]:
    """Top-level modules that the sources import, in lower case."""
    found: set[str] = set()
    for source in sources:
        for whole, several in _IMPORT.findall(source):
            names = [whole] if whole else [part.split()[0] for part in several.split(",") if part.strip()]
            found |= {name.split(".")[0].strip("() \t").lower() for name in names}
    return found - {name.lower() for name in sys.stdlib_module_names}


def declared(manifest: str) -> list[str]:
    """The names of the distributions that a manifest declares, as written there."""
    block = _DEPENDENCIES.search(manifest)
    if block:
        return [name for _, name in _QUOTED.findall(block[1])]
    lines = (line.split("#")[0].strip() for line in manifest.splitlines())
    return [match[1] for line in lines if (match := _REQUIREMENT.match(line))]


def unused(manifest: str, sources: Iterable[str]) -> list[str]:
    modules = imported_modules(sources)
    return [name for name in declared(manifest) if _module(name) not in modules]


def _module(name: str) -> str:
    plain = name.lower().replace("_", "-")
    return _MODULES.get(plain, plain.replace("-", "_"))


def _propose(scene: Scene, read: list[Seen]) -> Turn:
    manifest, *sources = read
    text = whole_text(manifest)
    names = unused(text, [whole_text(one) for one in sources])
    if not names:
        all_used = scene.say(
            f"Every dependency in `{manifest.path}` is imported somewhere, so there is nothing to remove.",
            f"`{manifest.path}` 中的每个依赖都有被导入，没有可以移除的。",
        )
        return Turn(text=all_used)
    listed = ", ".join(f"`{name}`" for name in names)
    return Turn(
        thinking=scene.say(
            f"Declared but never imported: {', '.join(names)}.", f"声明了却从未导入：{'、'.join(names)}。"
        ),
        text=scene.say(
            f"No source file imports {listed}. I propose to remove that from `{manifest.path}`.",
            f"没有源文件导入 {listed}，我建议从 `{manifest.path}` 中移除。",
        ),
        calls=tuple(_edits(manifest.path, text, names)),
    )


def _edits(path: str, manifest: str, names: list[str]) -> list[Call]:
    """One edit of the whole dependency list, or one for each line of a requirements file."""
    block = _DEPENDENCIES.search(manifest)
    if block is None:
        lines = [line for line in manifest.splitlines() if (m := _REQUIREMENT.match(line.strip())) and m[1] in names]
        return [
            Call.of("edit_file", path=path, old=f"{line}\n" if f"{line}\n" in manifest else line, new="")
            for line in lines
        ]
    new = block[0]
    for name in names:
        entry = rf"""[ \t]*(["']){re.escape(name)}(?![\w.-])[^"']*\1,?[ \t]*\n?"""
        new = re.sub(entry, "", new, count=1)
    return [Call.of("edit_file", path=path, old=block[0], new=new)]


def _removed(scene: Scene, edits: list[Seen]) -> Turn:
    names = sorted({name for one in edits for name in _dropped(one)})
    listed = ", ".join(f"`{name}`" for name in names) or scene.say("nothing", "无")
    lines = [
        scene.say(
            f"Done. Removed from `{edits[-1].path}`: {listed}.", f"完成。已从 `{edits[-1].path}` 移除：{listed}。"
        ),
        *changes_by_people(scene, edits),
        "",
        scene.say("Run the project's tests before you publish it.", "发布前请先运行项目的测试。"),
    ]
    return Turn(text="\n".join(lines))


def _dropped(edit: Seen) -> list[str]:
    """What really left the list, from the arguments that ran."""
    old, new = str(edit.arguments.get("old", "")), str(edit.arguments.get("new", ""))
    return [name for name in declared(old) if name not in declared(new)]


# --- TypeScript ---------------------------------------------------------------------------------------------------

_TSCONFIG = "tsconfig.json"
_SAMPLE_TSCONFIG = """\
{
  "compilerOptions": {
    "target": "ES2022",
    "module": "NodeNext",
    "moduleResolution": "NodeNext",
    "outDir": "dist",
    "strict": false,
    "noImplicitAny": false
  },
  "include": ["src"]
}
"""
_STRICT_FAMILY = (
    "strict",
    "noImplicitAny",
    "noImplicitThis",
    "strictNullChecks",
    "strictFunctionTypes",
    "strictBindCallApply",
    "strictPropertyInitialization",
    "alwaysStrict",
    "useUnknownInCatchVariables",
)
_OPTIONS = re.compile(r'"compilerOptions"\s*:\s*\{')


def make_strict(scene: Scene) -> Turn:
    lacking = without_tools(scene, "list_files", "read_file", "write_file")
    if lacking:
        return lacking
    if not scene.seen("list_files"):
        return Turn(
            thinking=scene.say("Is there a TypeScript configuration?", "先确认有没有 TypeScript 配置。"),
            calls=(Call.of("list_files"),),
        )
    halted = stopped(scene, [*scene.seen("list_files"), *scene.seen("write_file")])
    if halted:
        return halted
    listed = [path for one in scene.done("list_files") for path in listed_paths(one.content)]
    path = next((path for path in listed if path.rpartition("/")[2] == _TSCONFIG), "")
    writes, reads = scene.done("write_file"), scene.seen("read_file")
    if not path and not writes:
        return Turn(
            text=scene.say(
                f"There is no {_TSCONFIG} here, so I put a sample into the workspace first.",
                f"这里没有 {_TSCONFIG}，我先在工作区放入一个示例。",
            ),
            calls=(Call.of("write_file", path=_TSCONFIG, content=_SAMPLE_TSCONFIG),),
        )
    if not reads:
        return Turn(
            thinking=scene.say("Read it before changing it.", "修改之前先读取内容。"),
            calls=(Call.of("read_file", path=path or writes[0].path),),
        )
    changes = writes if path else writes[1:]
    return stopped(scene, reads) or (_made_strict(scene, changes) if changes else _change(scene, reads[-1]))


def strict_text(config: str) -> str:
    """The configuration with strict checking on, its layout and comments left alone."""
    text = config
    for option in _STRICT_FAMILY:
        text = re.sub(rf'("{option}"\s*:\s*)false\b', r"\1true", text)
    if re.search(r'"strict"\s*:\s*true\b', text):
        return text
    options = _OPTIONS.search(text)
    if options:
        return _inserted(text, options.end(), '"strict": true', "\n    ")
    return _inserted(text, text.find("{") + 1, '"compilerOptions": {\n    "strict": true\n  }', "\n  ")


def _inserted(text: str, at: int, member: str, indent: str) -> str:
    """A first member put into an object; comma and line ends depend on whether others follow."""
    rest = text[at:]
    if rest.lstrip().startswith("}"):
        return text[:at] + indent + member + indent[:-2] + rest.lstrip()
    return text[:at] + indent + member + "," + (rest if rest.startswith("\n") else indent + rest.lstrip())


def _change(scene: Scene, read: Seen) -> Turn:
    before = whole_text(read)
    after = strict_text(before)
    if after == before:
        return Turn(text=scene.say(f"`{read.path}` is strict already.", f"`{read.path}` 已经是严格模式。"))
    return Turn(
        thinking=scene.say(
            "Single checks that are switched off would override strict, so they must go too.",
            "单独关闭的检查会覆盖 strict，因此也要一并打开。",
        ),
        text=scene.say("I propose this change:", "我建议这样修改："),
        calls=(Call.of("write_file", path=read.path, content=after),),
    )


def _made_strict(scene: Scene, changes: list[Seen]) -> Turn:
    last = changes[-1]
    on = [
        name for name in _STRICT_FAMILY if re.search(rf'"{name}"\s*:\s*true\b', str(last.arguments.get("content", "")))
    ]
    listed = ", ".join(f"`{name}`" for name in on) or first_line(last.content)
    lines = [
        scene.say(f"Done. `{last.path}` now has: {listed}.", f"完成。`{last.path}` 现在启用了：{listed}。"),
        *changes_by_people(scene, changes),
        "",
        scene.say("Expect new compiler errors; they are the point.", "编译器会报告新的错误，这正是目的所在。"),
    ]
    return Turn(text="\n".join(lines))
