"""What the worker does around the jobs that Celery hands to it."""

from celery.signals import task_postrun
from kombu.asynchronous import Hub, get_event_loop, set_event_loop

from agentweb.worker import tasks


def test_a_slot_that_is_free_again_is_noticed_at_once_and_not_with_the_next_tick_of_the_loop():
    before, hub = get_event_loop(), Hub()
    set_event_loop(hub)
    try:
        task_postrun.send(sender=tasks.advance, task_id="1")
        next(hub.create_loop())
        assert [entry.entry.fun.__module__ for entry in hub.timer.queue] == [tasks.__name__]
    finally:
        hub.close()
        set_event_loop(before)
