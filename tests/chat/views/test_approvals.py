"""Deciding on the page: every answer, whoever comes too late, changed arguments, and the inbox."""

import json

import pytest

from agentweb.engine.enums import Risk
from agentweb.runs import workspaces
from agentweb.runs.models import Approval, Call
from tests.chat.views.person import HTMX, browser, hidden_value, html_of, text_of
from tests.runs.waiting_call import waiting_approvals

ARGUMENTS = {"path": "a.txt", "content": "one\ntwo\n"}
PATH, CONTENT = "argument:path", "argument:content"


@pytest.fixture
def client(cast):
    return browser(cast.owner)


@pytest.fixture
def approval(cast):
    return waiting_approvals(cast, cast.builder_run(visibility="team"), arguments=ARGUMENTS)[0]


@pytest.fixture
def risky(cast):
    run = cast.builder_run(visibility="team")
    return waiting_approvals(
        cast, run, name="delete_file", arguments={"path": "a.txt"}, risk=Risk.HIGH, requires_comment=True
    )[0]


def decide(client, approval, decision, headers=HTMX, **more):
    data = {"decision": decision, "digest": approval.digest, **more}
    return client.post(f"/approvals/{approval.public_id}/decide", data, headers=headers)


def modify(client, approval, headers=HTMX, **changes):
    data = {"step": "preview", PATH: "a.txt", CONTENT: "one\r\ntwo\r\n"} | changes
    return client.post(f"/approvals/{approval.public_id}/modify", data, headers=headers)


# --- what the card shows --------------------------------------------------------------------------------------------


def test_the_card_puts_facts_first_and_the_agents_words_apart(cast, client, approval):
    Call.objects.get().message.__class__.objects.filter(role="assistant").update(text="Trust me, this is harmless.")
    Approval.objects.update(effect="Creates a.txt (2 lines)")
    words = text_of(client.get(f"/cards/call/{approval.call.public_id}"))
    facts = [words.index(each) for each in ("Medium risk", "Creates a.txt (2 lines)", "Trust me")]
    assert facts == sorted(facts)
    assert "The agent's own words, not checked Trust me, this is harmless." in words
    assert "Path a.txt" in words


def test_the_words_of_an_admin_stand_in_place_of_the_agents(cast, client, approval):
    Approval.objects.update(fact="Writes <b>a.txt</b>")
    card = client.get(f"/cards/call/{approval.call.public_id}")
    assert "Writes <b>a.txt</b>" in text_of(card) and "Writes &lt;b&gt;" in card.content.decode()
    assert "The agent's own words" not in text_of(card)


def test_hidden_characters_are_marked_and_warned_of(cast, client):
    run = cast.builder_run()
    asked = waiting_approvals(cast, run, arguments={"path": "a\u202etxt.exe", "content": ""})[0]
    card = client.get(f"/cards/call/{asked.call.public_id}")
    assert '<mark class="hidden-char" title="RIGHT-TO-LEFT OVERRIDE">U+202E</mark>' in html_of(card)
    assert "characters that cannot be seen" in text_of(card)


def test_someone_who_may_not_decide_sees_the_facts_and_no_buttons(cast, approval):
    card = browser(cast.reviewer).get(f"/cards/call/{approval.call.public_id}")
    assert "not decide about it" in text_of(card)
    assert "<form" not in html_of(card)


def test_the_same_card_is_there_after_a_reload_and_in_another_browser(cast, client, approval):
    address = f"/c/{approval.run.conversation.public_id}/"
    for page in (client.get(address), client.get(address), browser(cast.member).get(address)):
        assert f'id="approval-{approval.public_id}"' in html_of(page)
        assert 'value="approve"' in html_of(page)


# --- deciding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "more", "status", "words"),
    [
        ("approve", {}, "approved", "Approved · owner"),
        ("reject", {"comment": "Not this file"}, "rejected", "Reason: Not this file"),
        ("respond", {"response": "It is 5."}, "answered", "Answer given in place of the tool: It is 5."),
    ],
)
def test_a_decision_is_taken_and_shown(client, approval, decision, more, status, words):
    answer = decide(client, approval, decision, **more)
    assert answer.status_code == 200
    assert words in text_of(answer)
    assert "<form" not in html_of(answer)
    assert "autofocus" in html_of(answer)
    assert Approval.objects.get().status == status


def test_without_scripts_a_decision_leads_back(client, approval):
    answer = decide(client, approval, "approve", headers=None)
    assert answer.url == f"/c/{approval.run.conversation.public_id}/#call-{approval.call.public_id}"


def test_from_the_inbox_it_leads_back_to_the_inbox(client, approval):
    assert decide(client, approval, "approve", headers=None, back="inbox").url == "/approvals/"


def test_whoever_comes_second_sees_who_was_first(cast, client, approval):
    decide(client, approval, "approve")
    late = decide(browser(cast.member), approval, "reject", comment="no")
    assert late.status_code == 409
    words = text_of(late)
    assert "owner has decided already: Approved." in words
    assert "Approved · owner" in words
    assert Approval.objects.get().status == "approved"


def test_a_click_after_cancel_runs_nothing_and_says_so(client, approval):
    client.post(f"/runs/{approval.run.public_id}/cancel")
    late = decide(client, approval, "approve")
    assert late.status_code == 409
    assert "The run was cancelled; nothing will run." in text_of(late)


def test_a_decision_about_another_state_of_the_call_does_not_count(client, approval):
    answer = client.post(
        f"/approvals/{approval.public_id}/decide", {"decision": "approve", "digest": "other"}, headers=HTMX
    )
    assert answer.status_code == 409
    assert Approval.objects.get().status == "pending"
    assert 'value="approve"' in html_of(answer)


def test_without_scripts_a_late_click_gets_a_page_with_the_true_state(cast, client, approval):
    decide(client, approval, "approve")
    page = decide(browser(cast.member), approval, "approve", headers=None)
    assert page.status_code == 409
    assert "<html" in html_of(page)
    assert "owner has decided already" in text_of(page)


@pytest.mark.parametrize(
    ("decision", "typed", "field"),
    [
        ("reject", {"comment": " "}, "reason-"),
        ("respond", {"response": ""}, "response-"),
    ],
)
def test_what_is_missing_is_told_at_its_field(client, approval, decision, typed, field):
    answer = decide(client, approval, decision, **typed)
    assert answer.status_code == 422
    assert f'id="{field}{approval.public_id}"' in html_of(answer)
    assert 'aria-invalid="true"' in html_of(answer)
    assert Approval.objects.get().status == "pending"


@pytest.mark.parametrize("decision", ["", "destroy"])
def test_an_unknown_decision_is_told(client, approval, decision):
    answer = decide(client, approval, decision)
    assert answer.status_code == 422
    assert "one of approve, modify, reject, respond" in text_of(answer)


def test_high_risk_needs_a_comment_and_a_second_look(client, risky):
    bare = decide(client, risky, "approve")
    assert bare.status_code == 422
    assert "A comment is required at this risk level." in text_of(bare)
    assert "Tick this first" in text_of(bare)
    typed = decide(client, risky, "approve", comment="Ann agreed")
    assert ">Ann agreed</textarea>" in html_of(typed)
    assert Approval.objects.get().status == "pending"
    assert decide(client, risky, "approve", comment="Ann agreed", checked="yes").status_code == 200
    assert (Approval.objects.get().status, Approval.objects.get().comment) == ("approved", "Ann agreed")


def test_each_call_of_a_message_has_its_own_card_and_decision(cast, client):
    first, second, third = waiting_approvals(cast, cast.builder_run(), count=3, arguments=ARGUMENTS)
    decide(client, first, "approve")
    decide(client, second, "reject", comment="no")
    html = html_of(client.get(f"/c/{first.run.conversation.public_id}/"))
    assert [html.count(f'id="decide-{each.public_id}"') for each in (first, second, third)] == [0, 0, 1]


# --- changing the arguments -----------------------------------------------------------------------------------------


def test_the_form_is_made_from_the_tools_schema(client, approval):
    form = client.get(f"/approvals/{approval.public_id}/modify", headers=HTMX)
    html = html_of(form)
    assert 'name="argument:path" type="text" dir="auto" value="a.txt"' in html
    assert "one\ntwo\n</textarea>" in html
    assert html.index(PATH) < html.index(CONTENT)
    page = client.get(f"/approvals/{approval.public_id}/modify")
    assert "<html" in html_of(page)


def test_changes_are_shown_before_they_are_approved(client, approval):
    preview = modify(client, approval, **{PATH: "b.txt", CONTENT: "one\r\nthree\r\n"})
    words = text_of(preview)
    assert "removed a.txt → added b.txt" in words
    assert "removed two" in words
    assert "added three" in words
    assert Approval.objects.get().status == "pending"
    changed = json.loads(hidden_value(preview, "arguments"))
    assert changed == {"path": "b.txt", "content": "one\nthree\n"}
    answer = decide(client, approval, "modify", arguments=hidden_value(preview, "arguments"))
    assert "Approved with changes · owner" in text_of(answer)
    assert Approval.objects.get().final_arguments == changed


def test_the_changes_stay_on_the_card(client, approval):
    decide(client, approval, "modify", arguments=json.dumps({**ARGUMENTS, "path": "b.txt"}))
    words = text_of(client.get(f"/cards/call/{approval.call.public_id}"))
    assert "1 change" in words
    assert "removed a.txt → added b.txt" in words


def test_they_can_be_edited_again(client, approval):
    again = modify(client, approval, step="edit", arguments=json.dumps({**ARGUMENTS, "path": "c.txt"}))
    assert 'value="c.txt"' in html_of(again)


def test_arguments_that_do_not_fit_are_told_at_their_field_and_kept(client, approval):
    answer = modify(client, approval, **{PATH: "", CONTENT: "kept text"})
    assert answer.status_code == 422
    assert "Length must be at least 1" in text_of(answer)
    assert "kept text</textarea>" in html_of(answer)
    assert Approval.objects.get().status == "pending"


@pytest.mark.parametrize("arguments", ["", "not json", "[1]", '{"path": 5}', "null", '{"path": "a"', "[" * 5000])
def test_changed_arguments_that_are_broken_run_nothing(client, approval, arguments):
    answer = decide(client, approval, "modify", arguments=arguments)
    assert answer.status_code == 422
    assert f'action="/approvals/{approval.public_id}/modify"' in html_of(answer)
    assert Approval.objects.get().status == "pending"


def test_high_risk_needs_the_second_look_for_changes_too(client, risky):
    answer = decide(client, risky, "modify", arguments='{"path": "b.txt"}', comment="better")
    assert answer.status_code == 422
    assert "Tick this first" in text_of(answer)
    assert ">better</textarea>" in html_of(answer)
    done = decide(client, risky, "modify", arguments='{"path": "b.txt"}', comment="better", checked="yes")
    assert done.status_code == 200


def test_a_call_that_was_decided_has_no_form_any_more(client, approval):
    decide(client, approval, "approve")
    answer = client.get(f"/approvals/{approval.public_id}/modify", headers=HTMX)
    assert answer.status_code == 409
    assert "Approved · owner" in text_of(answer)


# --- what it would do -------------------------------------------------------------------------------------------------


def test_the_card_says_how_old_the_preview_is_and_looks_again(cast, client, settings, tmp_path):
    settings.WORKSPACES_DIR = tmp_path
    asked = waiting_approvals(cast, cast.builder_run(), arguments=ARGUMENTS, looked=True)[0]
    card = client.get(f"/cards/call/{asked.call.public_id}")
    assert "Preview made 0 minutes ago" in text_of(card)
    same = client.post(f"/approvals/{asked.public_id}/look", headers=HTMX)
    assert "something else" not in text_of(same)

    workspaces.of(asked.run.conversation).write_bytes("a.txt", b"zero\n")
    now = client.post(f"/approvals/{asked.public_id}/look", headers=HTMX)
    assert "would do something else by now" in text_of(now)
    assert "Changes 2 lines of a.txt" in text_of(now)
    assert decide(client, asked, "approve").status_code == 409


def test_changed_arguments_are_shown_with_what_they_would_do(cast, client, settings, tmp_path):
    settings.WORKSPACES_DIR = tmp_path
    asked = waiting_approvals(cast, cast.builder_run(), arguments=ARGUMENTS, looked=True)[0]
    panel = modify(client, asked, **{CONTENT: "one\r\n"})
    assert "What the changed call would do Creates a.txt (1 line)" in text_of(panel)
    seen, changed = hidden_value(panel, "seen"), hidden_value(panel, "arguments")

    workspaces.of(asked.run.conversation).write_bytes("a.txt", b"zero\n")
    late = decide(client, asked, "modify", arguments=changed, seen=seen)
    assert late.status_code == 422
    assert "no longer what was shown" in text_of(late)
    assert "Changes 1 line of a.txt" in text_of(late)
    assert decide(client, asked, "modify", arguments=changed, seen=hidden_value(late, "seen")).status_code == 200


# --- the inbox ----------------------------------------------------------------------------------------------------


def test_the_inbox_shows_what_this_person_may_decide_the_riskiest_first(cast, approval, risky):
    words = text_of(browser(cast.member).get("/approvals/"))
    assert words.index("Approval wanted: Delete file") < words.index("Approval wanted: Write file")
    for name in ("reviewer", "stranger"):
        assert "Nothing waits for you." in text_of(browser(cast.person(name)).get("/approvals/"))


def test_the_count_is_in_the_navigation_and_can_be_fetched(cast, client, approval):
    assert "Approvals 1 waits for you" in text_of(client.get("/"))
    assert text_of(client.get("/approvals/count", headers=HTMX)) == "1 waits for you"
    decide(client, approval, "approve")
    assert text_of(client.get("/approvals/count", headers=HTMX)) == ""


def test_what_was_decided_can_be_looked_up(client, approval):
    decide(client, approval, "approve")
    assert "Approved · owner" in text_of(client.get("/approvals/", {"show": "decided"}))


# --- results ------------------------------------------------------------------------------------------------------


def test_a_long_result_is_cut_on_the_page_and_whole_as_a_download(client, approval):
    full = "\n".join(f"line {number}" for number in range(100_000))
    Call.objects.update(status="finished", result="cut", result_full=full, result_kind="ok")
    card = client.get(f"/cards/call/{approval.call.public_id}")
    assert len(card.content) < 60_000
    assert "100,000 lines" in text_of(card)
    answer = client.get(f"/calls/{approval.call.public_id}/result")
    assert answer.content.decode() == full
    assert answer["Content-Disposition"].startswith("attachment")
