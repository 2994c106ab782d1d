"""Finished calls on the page of a conversation: one line once the run has ended, cards as long as it goes on."""

import re

import pytest

from agentweb.runs.models import Call, Run
from tests.chat.views.person import browser, html_of
from tests.chat.views.talked import talked

pytestmark = pytest.mark.django_db
LINE = re.compile(r'<details class="steps">\s*<summary>(.*?)</summary>', re.DOTALL)


def test_calls_that_have_ended_are_one_line_below_which_they_all_are(cast):
    conversation = talked(cast, 1)
    run = conversation.runs.get()
    same = {"run": run, "message": run.messages.last(), "status": "finished"}
    calls = Call.objects.bulk_create(
        Call(**same, name="weather<b>" if place else "weather", position=place, result_kind=kind, result="Sunny")
        for place, kind in enumerate(("ok", "error", "ok"))
    )
    client, address = browser(cast.owner), f"/c/{conversation.public_id}/"
    shown = html_of(client.get(address))
    (line,) = LINE.findall(shown)
    assert [
        words for words in ("3 steps", "Weather (sample data), weather&lt;b&gt; ×2", "1 failed") if words not in line
    ] == [], line
    folded = shown[shown.index(line) :]
    assert [folded.count(f'id="call-{call.public_id}"') for call in calls] == [1, 1, 1]
    Run.objects.filter(pk=run.pk).update(status="running", outcome="")
    live = html_of(client.get(address))
    assert not LINE.findall(live)
    assert [live.count(f'id="call-{call.public_id}"') for call in calls] == [1, 1, 1]
