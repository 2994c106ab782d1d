"""A path has one plain spelling and never leads out of the workspace."""

import pytest

from agentweb.toolbox.paths import Refused, parse, parse_folder


@pytest.mark.parametrize(
    "path",
    [
        "notes.txt",
        "src/app/main.py",
        ".gitignore",
        "..hidden",
        "a..b/c...d",
        "100%.txt",
        "50%25.txt",
        "[id].tsx",
        "报告/天气.md",
        "r\u00e9sum\u00e9.txt",
        "with space.txt",
        "console.log",
        "~backup",
        "x" * 255,
        "/".join(["d" * 200] * 5),
    ],
)
def test_a_plain_path_is_taken_as_it_is(path: str) -> None:
    assert "/".join(parse(path)) == path


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("../../etc/passwd", '".."'),
        ("..", '".."'),
        ("a/../b", '".."'),
        ("a//../../b", '".."'),
        ("/etc/passwd", "absolute"),
        ("//host/share", "absolute"),
        ("C:\\x", "drive"),
        ("c:x", "drive"),
        ("a\\b", "backslash"),
        ("..\\x", "backslash"),
        ("~", "home"),
        ("~/x", "home"),
        ("%2e%2e/x", '".."'),
        ("%2E%2e%2fx", '".."'),
        ("%252e%252e/x", '".."'),
        ("%2e/x", "percent"),
        ("a%2fb", "percent"),
        ("%2fetc/passwd", "absolute"),
        ("a%5cb", "backslash"),
        ("a%00", "percent"),
        ("a\x00.txt", "U+0000"),
        ("a\n.txt", "U+000A"),
        ("a\x7f", "U+007F"),
        ("evil\u202etxt.exe", "U+202E"),
        ("a\u200b.txt", "U+200B"),
        ("a\u200d.txt", "U+200D"),
        ("a\ufeff", "U+FEFF"),
        ("a\U000e0041", "U+E0041"),
        ("a\ud800", "U+D800"),
        ("a\u2028b", "U+2028"),
        ("a//b", 'as "a/b"'),
        ("a/", 'as "a"'),
        ("./a", 'as "a"'),
        ("a/./b", 'as "a/b"'),
        (".", "plainly"),
        ("re\u0301sume\u0301.txt", "composed"),
        ("a.txt.", "dot"),
        ("a.txt ", "space"),
        ("dir /a", "space"),
        (" a", "space"),
        ("...", "dot"),
        ("a.txt:stream", "colon"),
        ("file:///etc/passwd", "colon"),
        ("CON", "reserved"),
        ("nul.txt", "reserved"),
        ("src/Com1.log", "reserved"),
        (".agentweb-part-1", "reserved"),
        ("x" * 256, "255 bytes"),
        ("天" * 86, "255 bytes"),
        ("/".join(["d" * 200] * 6), "1024 bytes"),
        ("/".join("d" * 33), "32 parts"),
    ],
)
def test_a_path_that_leads_elsewhere_or_reads_otherwise_is_refused_with_the_reason(path: str, word: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(path)
    assert word in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("folder", "parts"), [("", ()), (".", ()), ("./", ()), ("src/", ("src",)), ("a/b", ("a", "b"))]
)
def test_a_folder_may_be_the_workspace_itself_or_end_with_a_slash(folder: str, parts: tuple[str, ...]) -> None:
    assert parse_folder(folder) == parts


@pytest.mark.parametrize("folder", ["/", "..", "../", "src//", "/src/"])
def test_a_folder_keeps_to_the_same_rules(folder: str) -> None:
    with pytest.raises(Refused):
        parse_folder(folder)
