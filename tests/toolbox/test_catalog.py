"""The catalog loads tools from modules, and no two with the same name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentweb.schema.check import check_schema
from agentweb.toolbox.catalog import BUILT_IN, by_category, load

PARAMETERS = {
    "current_time": ([], ["timezone"]),
    "calculator": (["expression"], []),
    "weather": (["city"], []),
    "list_files": ([], ["path"]),
    "read_file": (["path"], []),
    "search_files": (["query"], ["path"]),
    "write_file": (["path", "content"], []),
    "edit_file": (["path", "old", "new"], []),
    "delete_file": (["path"], []),
    "restore_file": (["path", "change"], []),
    "ask_user": (["question"], ["choices", "several", "own_words"]),
    "fetch_web_page": (["url"], []),
    "send_email": (["to", "subject", "text"], ["cc"]),
    "web_search": (["query"], ["most"]),
    "run_python": (["code"], []),
    "run_shell": (["command"], []),
}

MODULE = '''
from agentweb.toolbox.tool import tool
from agentweb.toolbox.weather import weather

@tool(label="Test")
def {name}(text: str) -> str:
    """Test."""
    return text
'''


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_tools_")]:
        del sys.modules[name]


def test_the_built_in_tools_have_their_stable_names_and_parameters() -> None:
    found = {}
    for name, tool in load().items():
        properties, required = tool.spec.parameters["properties"], tool.spec.parameters["required"]
        found[name] = (required, [each for each in properties if each not in required])
    assert found == PARAMETERS


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_built_in_tool_says_all_that_a_model_must_know(name: str) -> None:
    tool = load()[name]
    assert check_schema(tool.spec.parameters) == []
    assert tool.spec.description.endswith(".")
    assert all(each["description"].endswith(".") for each in tool.spec.parameters["properties"].values())
    assert tool.spec.label
    assert len(tool.spec.digest) == 64


def test_each_load_gives_its_own_dict() -> None:
    first, second = load(), load()
    first.pop("weather")
    assert "weather" in second
    assert list(second) == list(load())


def test_a_project_adds_its_own_modules_and_only_their_own_tools(outside: Path) -> None:
    (outside / "own_tools_a.py").write_text(MODULE.format(name="shout"))
    assert [name for name in load([*BUILT_IN, "own_tools_a"]) if name not in PARAMETERS] == ["shout"]
    assert list(load(["own_tools_a", "own_tools_a"])) == ["shout"]


def test_two_tools_of_one_name_are_refused(outside: Path) -> None:
    (outside / "own_tools_b.py").write_text(MODULE.format(name="read_file"))
    with pytest.raises(ValueError, match=r'"read_file": in agentweb\.toolbox\.read_file and in own_tools_b'):
        load([*BUILT_IN, "own_tools_b"])


def test_a_module_without_tools_or_that_is_not_there_is_refused(outside: Path) -> None:
    with pytest.raises(ValueError, match="json holds no tool"):
        load(["json"])
    with pytest.raises(ImportError):
        load(["no_such_module_of_tools"])


def test_tools_are_grouped_by_category() -> None:
    groups = {category: [tool.spec.name for tool in tools] for category, tools in by_category(load()).items()}
    assert groups == {
        "files": ["delete_file", "edit_file", "list_files", "read_file", "restore_file", "search_files", "write_file"],
        "general": ["calculator", "current_time", "weather"],
        "code": ["run_python", "run_shell"],
        "people": ["ask_user", "send_email"],
        "web": ["fetch_web_page", "web_search"],
    }
