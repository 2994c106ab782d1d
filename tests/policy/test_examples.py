"""The examples in the document for admins are true."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentweb.engine.enums import Risk
from agentweb.policy import stored
from agentweb.policy.faults import faults
from agentweb.policy.judging import judge
from agentweb.policy.rules import Facts, Rule

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "policies.md").read_text()
PART = re.compile(r"```json\n(?P<rule>.*)\n```\n\n(?P<table>(?:\|.*\n)+)")
DEFAULT = stored.read(
    "default",
    1,
    [
        {"says": "allow", "risk": "low"},
        {"says": "ask", "risk": "medium"},
        {"says": "ask", "risk": "high", "requires_comment": True},
    ],
)
RISKS = {"read_file": "low", "write_file": "medium", "edit_file": "medium", "delete_file": "high"}
WHEN = {
    "": {},
    "tainted": {"tainted": True},
    "unattended": {"attended": False},
    "member": {"role": "member"},
    "admin": {"role": "admin"},
    "nobody's role": {"role": None},
}


@dataclass(frozen=True)
class Example:
    rule: Rule
    facts: Facts
    verdict: str

    def __str__(self) -> str:
        return f"{self.rule.says} {self.facts.tool} {self.verdict}"


def examples() -> list[Example]:
    found = []
    for part in PART.finditer(TEXT):
        (rule,) = stored.read("example", 1, [json.loads(part["rule"])])
        head, _line, *rows = [_cells(row) for row in part["table"].strip().split("\n")]
        found += [_example(rule, dict(zip(head, row, strict=True))) for row in rows]
    return found


def _cells(row: str) -> list[str]:
    return [cell.strip(" `") for cell in row[1:-1].split("|")]


def _example(rule: Rule, row: dict[str, str]) -> Example:
    arguments = json.loads(row.get("arguments") or '{"path": "a"}')
    if arguments.get("content") == "long*500":
        arguments["content"] = "long" * 500
    risk = Risk(row.get("risk") or RISKS[row["tool"]])
    known = {"role": "member"} | WHEN[row.get("when", "")]
    return Example(rule, Facts(row["tool"], risk, arguments, 1, 1, 1, **known), row["verdict"])


EXAMPLES = examples()


def test_every_example_is_found():
    assert len({str(example.rule) for example in EXAMPLES}) == TEXT.count("```json") == 7
    assert len(EXAMPLES) == 17


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_example_says_what_becomes_of_the_call(example):
    assert faults(example.rule) == []
    ruling = judge((*DEFAULT, example.rule), example.facts)
    assert f"{ruling.says}{' with comment' if ruling.requires_comment else ''}" == example.verdict
