"""Whether the stored record of a run is as it was written, in words for people."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from agentweb.runs import chain
from agentweb.runs.chain import Broken, Fault, Head, Link
from agentweb.runs.models import Event, Run

TRIES = 5


def read(run: Run) -> list[Event]:
    """The run's events in order, and with them its head as it is now. A live run may grow meanwhile: then again."""
    for _try in range(TRIES):
        run.refresh_from_db(fields=["last_event", "head_hash", "head_signature"])
        events = list(run.events.order_by("number"))
        if not _grew(run):
            break
    return events


def check(run: Run, events: Iterable[Event]) -> Broken | None:
    """The first thing that is wrong with events that ``read`` gave, or None."""
    head = Head(str(run.public_id), run.last_event, run.head_hash, run.head_signature)
    return chain.check(head, (_link(event) for event in events))


def sentence(broken: Broken) -> str:
    """What is wrong, and with which event."""
    about = {"number": broken.number, "kind": broken.kind}
    return {
        Fault.REMOVED: _("Event %(number)d was removed."),
        Fault.ADDED: _("Event %(number)d (%(kind)s) was added."),
        Fault.PAYLOAD: _("Event %(number)d (%(kind)s) was changed: its content is not what was recorded."),
        Fault.CHAIN: _(
            "Event %(number)d (%(kind)s) was changed, or put in the place of another: "
            "its kind, time or number does not fit the chain."
        ),
        Fault.HEAD: _("The last hash is not that of event %(number)d: events were written anew."),
        Fault.SIGNATURE: _(
            "The signature at event %(number)d is not ours: "
            "events were written anew or cut off at the end, or the secret key was changed."
        ),
    }[broken.fault] % about


def _grew(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk).exclude(last_event=run.last_event).exists()


def _link(event: Event) -> Link:
    return Link(event.number, event.kind, event.at, event.payload, event.payload_digest, event.hash)
