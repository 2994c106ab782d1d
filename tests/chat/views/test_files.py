"""The files of a conversation: listed, and handed out so that no browser ever runs them."""

from html import unescape

import pytest

from agentweb.runs import workspaces
from tests.chat.views.person import browser, html_of, text_of


@pytest.fixture
def conversation(cast):
    made = cast.conversation()
    workspaces.of(made).write_bytes("snake.html", b"<script>alert(1)</script>")
    workspaces.of(made).write_bytes("src/\u6587\u4ef6 & more.js", b"x" * 2_500)
    return made


def test_files_are_listed_with_their_sizes(cast, conversation):
    words = text_of(browser(cast.owner).get(f"/c/{conversation.public_id}/files"))
    assert "snake.html 25 B" in words
    assert "src/文件 & more.js 2.5 kB" in words


def test_a_conversation_without_files_says_so(cast):
    page = browser(cast.owner).get(f"/c/{cast.conversation().public_id}/files")
    assert "The agent has made no files yet." in text_of(page)


def test_a_file_is_saved_and_has_no_rights_if_it_is_opened(cast, conversation):
    answer = browser(cast.owner).get(f"/c/{conversation.public_id}/files/snake.html")
    assert b"".join(answer.streaming_content) == b"<script>alert(1)</script>"
    assert answer["Content-Disposition"] == "attachment; filename*=UTF-8''snake.html"
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


def test_every_listed_address_leads_to_its_file(cast, conversation):
    client = browser(cast.owner)
    html = html_of(client.get(f"/c/{conversation.public_id}/files"))
    addresses = [unescape(part.split('"')[0]) for part in html.split(f'href="/c/{conversation.public_id}/files/')[1:]]
    assert len(addresses) == 2
    for address in addresses:
        assert client.get(f"/c/{conversation.public_id}/files/{address}").status_code == 200


@pytest.mark.parametrize(
    "path", ["missing.txt", "../snake.html", "..%2fsnake.html", "src", "a%00b", "%FF", "/etc/passwd"]
)
def test_what_is_no_file_of_the_conversation_is_not_found(cast, conversation, path):
    answer = browser(cast.owner).get(f"/c/{conversation.public_id}/files/{path}")
    assert answer.status_code == 404
