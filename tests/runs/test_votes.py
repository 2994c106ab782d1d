"""Approvals by several people: each says yes once, to the same thing, and one no is enough."""

import pytest

from agentweb.engine import closing
from agentweb.engine.enums import Risk
from agentweb.engine.terms import Circle, Terms
from agentweb.runs import decisions, journal, transcripts
from agentweb.runs.batches import together as together_of
from agentweb.runs.errors import Conflict
from agentweb.runs.models import Approval, Run, Vote
from agentweb.runs.selectors import approval_for
from agentweb.runs.votes import shown_digest
from agentweb.runs.waiting import waiting_count
from tests.cast import make_cast, make_worker
from tests.chat.views.person import browser, html_of, text_of
from tests.runs.replayed import replayed
from tests.runs.test_decisions import together
from tests.runs.waiting_call import waiting_approvals

TWO = Terms(needed=2)
OTHER = {"path": "b.txt", "content": "other"}


@pytest.fixture
def approval(cast) -> Approval:
    return waiting_approvals(cast, cast.builder_run("team"), terms=TWO)[0]


def say(person, approval, decision="approve", **more) -> Approval:
    seen = approval_for(person, approval.public_id)
    fields = {"digest": shown_digest(seen), "comment": person.username} | more
    return decisions.decide(user=person, approval=seen, decision=decision, **fields)


def votes() -> list[tuple[str, str, bool]]:
    return list(Vote.objects.values_list("user__username", "kind", "void"))


def test_two_different_people_must_approve(cast, approval):
    assert say(cast.owner, approval).status == "pending"
    assert Run.objects.get().status == Run.Status.WAITING
    assert [waiting_count(person) for person in (cast.owner, cast.member)] == [0, 1]
    with pytest.raises(Conflict, match="You have approved"):
        say(cast.owner, approval)
    decided = say(cast.member, approval)
    assert (decided.status, decided.decided_by, decided.comment) == ("approved", cast.member, "member")
    assert votes() == [("owner", "approve", False), ("member", "approve", False)]
    assert Run.objects.get().status == Run.Status.QUEUED


def test_all_who_agreed_stand_in_what_the_run_takes_up_and_in_its_record(cast, approval):
    say(cast.owner, approval)
    say(cast.member, approval)
    run, call = Run.objects.get(), str(approval.call.public_id)
    entry = transcripts.load(run)[0].calls[call]
    assert [(one.by, one.comment) for one in entry.decision.consents] == [("owner", "owner"), ("member", "member")]
    journal.append(journal.claim(str(run.public_id), make_worker("next")), closing.decided(entry))
    run.refresh_from_db()
    assert replayed(run).calls[call].decision == transcripts.load(run)[0].calls[call].decision == entry.decision


@pytest.mark.parametrize(("decision", "status"), [("reject", "rejected"), ("respond", "answered")])
@pytest.mark.parametrize("first", [True, False])
def test_one_no_or_one_answer_ends_it(cast, approval, decision, status, first):
    if not first:
        say(cast.owner, approval)
    assert say(cast.member, approval, decision, response="done").status == status
    with pytest.raises(Conflict):
        say(cast.admin, approval)


def test_who_has_approved_may_still_reject(cast, approval):
    say(cast.owner, approval)
    assert say(cast.owner, approval, "reject").status == "rejected"


def test_changed_arguments_ask_the_others_anew(cast, approval):
    say(cast.owner, approval)
    assert say(cast.member, approval, "modify", arguments=OTHER).status == "pending"
    assert votes() == [("owner", "approve", True), ("member", "modify", False)]
    with pytest.raises(Conflict, match="has changed"):
        say(cast.owner, approval, digest="digest")
    told = browser(cast.owner).post("/approvals/pulse", {"shown": approval.public_id}).json()["states"]
    card = browser(cast.owner).get(f"/cards/call/{approval.call.public_id}").content.decode()
    assert f'data-asks="{approval.public_id} {told[str(approval.public_id)][1]}"' in card
    decided = say(cast.owner, approval)
    assert (decided.status, decided.final_arguments, decided.digest) == ("modified", OTHER, "digest")


def test_arguments_that_were_changed_back_run_as_they_were_asked_for(cast, approval):
    say(cast.member, approval, "modify", arguments=OTHER)
    say(cast.owner, approval, "modify", arguments=approval.arguments)
    decided = say(cast.member, approval)
    assert (decided.status, decided.final_arguments) == ("approved", approval.arguments)


def test_the_card_says_who_has_said_what_and_what_would_run(cast, approval):
    say(cast.owner, approval, comment="looks right")
    card = text_of(browser(cast.member).get(f"/cards/call/{approval.call.public_id}"))
    assert "Needs 2 approvals (given: 1): whoever may write in the conversation, and admins of the team" in card
    assert "Approved · owner" in card
    assert "looks right" in card
    mine = text_of(browser(cast.owner).get(f"/cards/call/{approval.call.public_id}"))
    assert "You have approved; others must approve too." in mine
    assert "Reject" in mine
    assert "Respond" not in mine
    say(cast.member, approval, "modify", arguments=OTHER)
    card = text_of(browser(cast.owner).get(f"/cards/call/{approval.call.public_id}"))
    assert "member has changed the arguments." in card
    assert "b.txt" in card
    assert "for other arguments" in card


def test_what_somebody_has_changed_is_not_decided_with_others_at_once(cast):
    first, second = waiting_approvals(cast, cast.builder_run("team"), 2, terms=TWO, risk=Risk.LOW)
    assert together_of(cast.owner, "write_file") == [first, second]
    say(cast.member, first, "modify", arguments=OTHER)
    assert together_of(cast.owner, "write_file") == [second]


def test_the_page_counts_a_vote_and_other_pages_learn_that_the_card_is_another(cast, approval):
    page, sent = browser(cast.owner), {"decision": "approve", "digest": "digest"}
    other, name = browser(cast.member), str(approval.public_id)
    shown = html_of(other.get("/approvals/"))
    before = other.post("/approvals/pulse", {"shown": name}).json()["states"][name]
    assert f'data-said="{before[2]}"' in shown
    answer = page.post(f"/approvals/{approval.public_id}/decide", sent, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "given: 1" in text_of(answer)
    after = other.post("/approvals/pulse", {"shown": name}).json()["states"][name]
    assert (before[:2], before[2] != after[2]) == (after[:2], True)


@pytest.mark.django_db(transaction=True)
def test_of_several_who_vote_in_the_same_moment_exactly_one_completes_it():
    cast = make_cast()
    terms = Terms(needed=2, circles=(Circle(role="member"),))
    for round_ in range(5):
        approval = waiting_approvals(cast, cast.builder_run("team"), terms=Terms(needed=2) if round_ else terms)[0]
        people = (cast.owner, cast.member) if not round_ else (cast.owner, cast.member, cast.admin)
        outcomes = together(lambda person, approval=approval: say(person, approval), people)
        assert sorted(outcomes) == ["Conflict"] * (len(people) - 2) + ["decided"] * 2, round_
        approval.refresh_from_db()
        assert approval.status == "approved"
        assert approval.votes.count() == 2
