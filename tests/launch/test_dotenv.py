"""The `.env` file."""

from pathlib import Path

import pytest

from agentweb.launch import dotenv
from agentweb.launch.refusal import Refusal


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("NAME=value", "value"),
        ("  NAME = value  ", "value"),
        ("export NAME=value", "value"),
        ("NAME='one # two'", "one # two"),
        ('NAME="one two"  # a comment', "one two"),
        ("NAME=value # a comment", "value"),
        ("NAME=with#inside", "with#inside"),
        ("NAME=a=b", "a=b"),
        ("NAME=", ""),
        ("NAME= # nothing", ""),
        ("NAME=中文", "中文"),
    ],
)
def test_a_line_is_a_name_and_a_value(tmp_path: Path, line, value):
    (tmp_path / ".env").write_text(f"# first\n\n{line}\n", encoding="utf-8")
    assert dotenv.read(tmp_path / ".env") == {"NAME": value}


def test_no_file_is_no_variable(tmp_path: Path):
    assert dotenv.read(tmp_path / ".env") == {}


@pytest.mark.parametrize("line", [b"just words", b"1NAME=x", b"=x", b"NAME=\xff"])
def test_a_line_that_is_none_is_refused_with_the_file(tmp_path: Path, line):
    (tmp_path / ".env").write_bytes(b"RIGHT=1\n" + line + b"\n")
    with pytest.raises(Refusal, match=r"\.env") as refused:
        dotenv.read(tmp_path / ".env")
    assert refused.value.status == 2
