"""The tools that exist in code, loaded from the modules that hold them."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from agentweb.toolbox.tool import FunctionTool

BUILT_IN = (
    "agentweb.toolbox.clock",
    "agentweb.toolbox.calculator",
    "agentweb.toolbox.weather",
    "agentweb.toolbox.list_files",
    "agentweb.toolbox.read_file",
    "agentweb.toolbox.search_files",
    "agentweb.toolbox.write_file",
    "agentweb.toolbox.edit_file",
    "agentweb.toolbox.delete_file",
    "agentweb.toolbox.restore_file",
    "agentweb.toolbox.ask_user",
    "agentweb.toolbox.send_email",
    "agentweb.toolbox.web_search",
    "agentweb.toolbox.fetch_web_page",
    "agentweb.toolbox.run_python",
    "agentweb.toolbox.run_shell",
)


def load(paths: Sequence[str] = BUILT_IN) -> dict[str, FunctionTool]:
    """The tools of these modules, by name, as a new dict that the caller may change.

    Raises ValueError for a module without tools and for a name that two tools have; ImportError passes.
    """
    tools: dict[str, FunctionTool] = {}
    origin: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        found = [value for value in vars(import_module(path)).values() if isinstance(value, FunctionTool)]
        own = [each for each in found if each.function.__module__ == path]  # not what it only imports
        if not own:
            raise ValueError(f"The module {path} holds no tool.")
        for each in own:
            name = each.spec.name
            if name in tools and tools[name] is not each:
                raise ValueError(f'Two tools are named "{name}": in {origin[name]} and in {path}.')
            tools[name] = each
            origin[name] = path
    return tools


def by_category(tools: Mapping[str, FunctionTool]) -> dict[str, list[FunctionTool]]:
    """The tools in groups, both in alphabetical order."""
    groups: dict[str, list[FunctionTool]] = {}
    for each in sorted(tools.values(), key=lambda each: (each.category, each.spec.name)):
        groups.setdefault(each.category, []).append(each)
    return groups
