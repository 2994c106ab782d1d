"""The files that browsers get: a vendored script that is what it says, a strict page, a small look."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
STATIC = ROOT / "static"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
OWN_SHEETS = ("base", "layout", "components", "chat")

# What a strict policy for scripts and styles blocks, or what would have to evaluate strings.
FORBIDDEN = {
    "inline style": r"\sstyle=|<style",
    "inline script": r"<script(?![^>]*\bsrc=)",
    "event handler": r"\son[a-z]+\s*=",
    "hx-on": r"\shx-on",
    "computed values": r"hx-(vals|headers)(:\w+)?=['\"]\s*js:",
    "trigger filter": r"hx-trigger=\"[^\"]*\[",
    "foreign address": r"(src|href)=\"(https?:)?//",
    "javascript address": r"javascript:",
}


def test_htmx_is_the_file_that_its_note_names():
    folder = STATIC / "vendor" / "htmx"
    note = (folder / "README.md").read_text()
    assert hashlib.sha256((folder / "htmx.min.js").read_bytes()).hexdigest() in note
    assert "4.0.1" in note
    assert "Zero-Clause BSD" in (folder / "LICENSE").read_text()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_nothing_that_the_strict_policy_forbids(path):
    text = path.read_text()
    assert [name for name, pattern in FORBIDDEN.items() if re.search(pattern, text, re.I)] == []


def plain(id_: str) -> str:
    """An id with its template tags as one mark, so that those with the same parts are alike."""
    return re.sub(r"{{.*?}}", "*", id_)


def test_every_target_of_a_request_is_an_element_of_some_template():
    texts = [path.read_text() for path in TEMPLATES]
    ids = {plain(id_) for text in texts for id_ in re.findall(r'\bid="([^"]+)"', text)}
    targets = {plain(target) for text in texts for target in re.findall(r'hx-target="#([^"]+)"', text)}
    targets |= {plain(target) for text in texts for target in re.findall(r'hx-status:\d+="target:#(.+?) swap', text)}
    assert len(targets) > 5
    assert targets - ids == set()


def test_every_form_that_posts_has_the_token_of_the_session():
    for path in TEMPLATES:
        text = path.read_text()
        forms = re.findall(r'<form\b[^>]*method="post".*?</form>', text, re.S)
        assert [form[:80] for form in forms if "csrf_token" not in form] == [], path.name


def test_every_request_of_a_form_also_works_without_scripts():
    for path in TEMPLATES:
        for tag in re.findall(r"<form\b[^>]*hx-post[^>]*>", path.read_text()):
            assert 'action="' in tag, path.name


def test_our_own_sheets_are_small_and_layered():
    sheets = [STATIC / "css" / f"{name}.css" for name in OWN_SHEETS]
    assert sum(sheet.stat().st_size for sheet in sheets) <= 25 * 1024
    assert all("@layer" in sheet.read_text() for sheet in sheets)


def test_the_page_of_a_conversation_weighs_little():
    """Uncompressed: every sheet and script that its templates name, and what these scripts import."""
    pages = [ROOT / "templates" / name for name in ("base.html", "app.html", "chat/conversation.html")]
    named = {name for page in pages for name in re.findall(r"{% static '([^']+)' %}", page.read_text())}
    files = {STATIC / name for name in named if name.endswith((".css", ".js"))}
    while more := {file.parent / name for file in files for name in _imported(file)} - files:
        files |= more
    assert {"htmx.min.js", "chat-stream.js", "chat-blocks.js", "chat.css"} <= {file.name for file in files}
    assert sum(file.stat().st_size for file in files) <= 120_000


def _imported(script: Path) -> list[str]:
    return re.findall(r'from "\./([^"]+)"', script.read_text()) if script.suffix == ".js" else []


def test_sheets_load_nothing_from_elsewhere():
    for sheet in (STATIC / "css").glob("*.css"):
        assert not re.search(r"@import|url\(", sheet.read_text()), sheet.name


def test_scripts_evaluate_no_strings_and_write_no_html_but_blocks_of_the_renderer():
    for script in (STATIC / "js").glob("*.js"):
        assert not re.search(r"\beval\(|new Function|document\.write|\bsetTimeout\(\s*['\"]", script.read_text())
    for name in ("page.js", "composer.js"):
        assert "innerHTML" not in (STATIC / "js" / name).read_text()
