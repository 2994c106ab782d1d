"""What comes from outside about calls that no tool can answer for any more: their results, or what became of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from agentweb.registry import answer_addresses
from agentweb.runs import fitting, journal, outbox, services
from agentweb.runs.decisions import MAX_COMMENT
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound, TooEarly
from agentweb.runs.fitting import MAX_CONTENT
from agentweb.runs.models import Approval, Call, CallAnswer, Run
from agentweb.runs.words import words_of
from agentweb.teams.models import User

MAX_RESULTS = 100


@dataclass(frozen=True, slots=True)
class Given:
    """One result from outside: the public id of its call, and what the tool would have returned. Where the tool has
    said what an answer must fit, that is a value, or its JSON text."""

    call: str
    content: Any
    is_error: bool = False


def resolve(*, user: User, call: Call, outcome: str, content: Any = "", comment: Any = "") -> Call:
    """A person settles a call whose outcome is unknown, and its run goes on, on commit.

    Raises Forbidden; Invalid with the field named; Conflict with the true state when there is nothing to settle."""
    _needs(call.run)
    if outcome not in CallAnswer.Outcome.values:
        words = _("The outcome is one of done, not_done, tell_model.")
        raise Invalid(words, [("outcome", words)])
    content, comment = words_of("content", content, MAX_CONTENT), words_of("comment", comment, MAX_COMMENT)
    if content and outcome != CallAnswer.Outcome.DONE:
        words = _("A result can be given only for a call that was done.")
        raise Invalid(words, [("content", words)])
    with transaction.atomic():
        _locked(call.run)
        call.refresh_from_db(fields=["status"])
        _not_answered([call])
        if call.status != Call.Status.UNKNOWN:
            raise Conflict(_("What became of this call is known."), {"status": call.status})
        answer = CallAnswer(run=call.run, call=call, outcome=outcome, content=content, comment=comment, given_by=user)
        _store(call.run, [answer])
    return call


def supply(*, user: User, run: Run, results: Sequence[Given], text: str = "") -> None:
    """Store results of suspended calls, and with the last of them what else there is to say; the run goes on with it.

    Raises Forbidden; Invalid for a request that makes no sense, with the place named, an empty one included; Conflict
    with the true state when a call does not wait for a result, or no longer."""
    _needs(run)
    _make_sense(results, text)
    with transaction.atomic():
        _locked(run)
        calls = _suspended(run, results)
        contents = fitting.contents(calls, results)
        if text and (waiting := _waiting(run).exclude(pk__in=[call.pk for call in calls])):
            words = _("Text can come only with the last results; these calls wait too: %(calls)s.") % {
                "calls": ", ".join(str(call.public_id) for call in waiting)
            }
            raise Invalid(words, [("text", words)])
        answers = [
            CallAnswer(run=run, call=call, content=content, is_error=given.is_error, given_by=user)
            for call, content, given in zip(calls, contents, results, strict=True)
        ]
        if text:
            services.send_message(user=user, conversation=run.conversation, text=text, delivery="steer")
        _store(run, answers)


def receive(*, token: str, content: str) -> Call:
    """A program answers a suspended call at the signed address that it was given; the run goes on with it.

    Raises Forbidden for an address that this site did not give out, or too long ago; NotFound when the call is gone;
    Conflict, with the true state, when it does not wait or was answered, TooEarly when it will in a moment; Invalid for
    what it cannot take."""
    call = _signed_for(token)
    with transaction.atomic():
        _locked(call.run)
        given = [Given(str(call.public_id), content)]
        _make_sense(given, "")
        if Call.objects.filter(pk=call.pk, status=Call.Status.STARTED).exists():  # it gave out the address just now
            raise TooEarly(_("The call does not wait yet. Send the answer again in a moment."), {"status": "started"})
        (row,) = _suspended(call.run, given)
        _store(call.run, [CallAnswer(run=call.run, call=row, content=fitting.text_of(row, content), given_by=None)])
    return call


def _signed_for(token: str) -> Call:
    try:
        public_id = answer_addresses.call_of(token)
    except signing.SignatureExpired as error:
        raise Forbidden(_("This address has expired.")) from error
    except signing.BadSignature as error:
        raise Forbidden(_("This site did not give out this address.")) from error
    calls = Call.objects.select_related("run__conversation__team")
    found = calls.filter(public_id=public_id, run__conversation__deleted_at=None).first()
    if found is None:
        raise NotFound(_("The call that waited for this is gone."))
    return found


def _make_sense(results: Sequence[Given], text: str) -> None:
    """What can be said without looking into the database. Raises Invalid."""
    if not results:
        words = _("There is no result in this request. A message goes to the conversation.")
        raise Invalid(words, [("text" if text else "results", words)])
    if len(results) > MAX_RESULTS:
        words = _("At most %(limit)d results at a time.") % {"limit": MAX_RESULTS}
        raise Invalid(words, [("results", words)])
    times = Counter(given.call for given in results)
    problems = []
    for place, given in enumerate(results):
        if times[given.call] > 1:
            problems.append((f"results[{place}].call", _("This call is named twice.")))
        if isinstance(given.content, str) and not given.content.strip():
            problems.append((f"results[{place}].content", _("The result is empty.")))
    if problems:
        raise Invalid(problems[0][1], problems)


def _suspended(run: Run, results: Sequence[Given]) -> list[Call]:
    """The calls that the results are for, in their order. Raises Invalid for strangers, Conflict for the rest."""
    rows = {str(call.public_id): call for call in run.calls.all()}
    unknown = [place for place, given in enumerate(results) if given.call not in rows]
    if unknown:
        words = _("This run has no such call.")
        raise Invalid(words, [(f"results[{place}].call", words) for place in unknown])
    calls = [rows[given.call] for given in results]
    _not_answered(calls)
    if others := [call for call in calls if call.status != Call.Status.SUSPENDED]:
        words = _("This call does not wait for a result: %(name)s, %(state)s.") % {
            "name": others[0].name,
            "state": others[0].get_status_display(),
        }
        raise Conflict(words, {"calls": {str(call.public_id): call.status for call in others}})
    return calls


def _waiting(run: Run) -> Any:
    """The calls that cannot go on by themselves: nobody has decided, given a result, or said what became of them."""
    undecided = Approval.objects.filter(call=OuterRef("pk"), status=Approval.Status.PENDING)
    answered = CallAnswer.objects.filter(call=OuterRef("pk"), taken_at=None)
    waits = Q(status__in=(Call.Status.SUSPENDED, Call.Status.UNKNOWN)) & ~Exists(answered)
    return run.calls.filter(waits | (Q(status=Call.Status.WAITING) & Exists(undecided)))


def _needs(run: Run) -> None:
    if not run.conversation.may.decide:
        raise Forbidden(_("You may not decide about this call."))


def _locked(run: Run) -> None:
    """Hold the run's row until the transaction ends. Raises Conflict when the run wants nothing any more."""
    row = Run.objects.select_for_update().get(pk=run.pk)
    if row.cancel_requested_at or row.status == Run.Status.FINISHED:
        raise Conflict(_("The run is over; nothing will run."), {"status": row.status})


def _not_answered(calls: Iterable[Call]) -> None:
    given = CallAnswer.objects.filter(call__in=[call.pk for call in calls], taken_at=None)
    first = given.select_related("given_by", "call").first()
    if first is not None:
        words = _("%(person)s was faster: %(state)s.") % {"person": first.by, "state": first.word}
        name = first.given_by.username if first.given_by else None
        state = {"status": first.call.status, "outcome": first.outcome, "given_by": name}
        raise Conflict(words, state)


def _store(run: Run, answers: list[CallAnswer]) -> None:
    CallAnswer.objects.bulk_create(answers)
    journal.mark_queued(run)
    outbox.touch(run, cards=[("call", str(answer.call.public_id)) for answer in answers])
    outbox.inbox_changed(run.conversation)
