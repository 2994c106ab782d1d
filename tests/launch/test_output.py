"""The common stream and the log files."""

import os
from pathlib import Path

from agentweb.launch import output
from agentweb.launch.output import Console, LogFile


def test_lines_carry_the_name_of_the_child_and_any_text_passes(tmp_path: Path):
    reader, writer = os.pipe()
    console = Console(writer)
    console.line("web", "中文 \ud800 \x00")
    console.say("ready")
    assert os.read(reader, 4096) == "web      | 中文 \\ud800 \x00\nready\n".encode()


def test_a_reader_that_does_not_read_holds_nobody_up_and_is_told_what_it_missed():
    reader, writer = os.pipe()
    console = Console(writer)
    for number in range(10_000):
        console.line("web", f"line {number} " + "x" * 100)
    seen = b""
    while b"not shown" not in seen:
        seen += os.read(reader, 65_536)
        console.say("and on")
    assert b"lines were not shown; see the log files" in seen
    assert b"line 0 " in seen


def test_a_reader_that_has_gone_away_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    console = Console(writer)
    console.say("to nobody")
    console.flush()
    assert os.fstat(writer)


def test_a_large_log_file_is_put_aside_once(tmp_path: Path):
    log = LogFile(tmp_path / "logs" / "web.log")
    line = "x" * (output.LARGEST_FILE // 4)
    for _ in range(5):
        log.write(line)
    log.close()
    assert (tmp_path / "logs" / "web.log.1").stat().st_size > output.LARGEST_FILE
    assert (tmp_path / "logs" / "web.log").stat().st_size == len(line) + 1


def test_the_console_knows_whether_a_person_reads_it():
    terminal, pipe = os.openpty()[1], os.pipe()[1]
    assert Console(terminal).is_terminal and not Console(pipe).is_terminal
