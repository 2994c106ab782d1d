"""What is folded when a conversation becomes too long, and what the model is sent then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.engine.context import Folding, as_text, estimate, material, plan
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import NoteKind, Strategy
from agentweb.engine.events import ContextFolded
from agentweb.engine.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Usage

WINDOW, SUMMARY, LAYERED = Strategy.WINDOW, Strategy.SUMMARY, Strategy.LAYERED
LONG = "x" * 350  # 100 tokens


def transcript(turns: int, *extra: UserMessage, text: str = LONG) -> Transcript:
    """A question, and turns that each say and do something, with a result; ``extra`` comes before the last turn."""
    messages: list[UserMessage | AssistantMessage] = [UserMessage("u1", "Do it", "Ann")]
    calls: dict[str, CallEntry] = {}
    for n in range(1, turns + 1):
        if n == turns:
            messages += extra
        one = ToolCall(f"c{n}", "look", {"n": n})
        calls[one.id] = CallEntry(one, result=ToolResult(one.id, text))
        messages.append(AssistantMessage(f"a{n}", f"Turn {n}", calls=(one,)))
    return Transcript(messages, calls)


def fold(one: Transcript, folding: Folding, number: int = 1, *, forced: bool = False, text: str = "short") -> list[str]:
    """Fold as planned; the ids that went in."""
    found = plan(one, folding, lambda: 0, forced=forced)
    if found is None:
        return []
    parts = (found.messages, found.folds, found.count, text, found.before, 0)
    one.apply(ContextFolded(f"f{number}", 1, folding.strategy, *parts))
    return list(found.messages)


def ids(messages: tuple[Message, ...]) -> list[str]:
    return [message.call if isinstance(message, ToolResult) else message.id for message in messages]


def test_nothing_is_folded_that_fits() -> None:
    assert plan(transcript(9), Folding(size=10_000), lambda: 0) is None
    assert plan(transcript(9), Folding(size=10_000, fold_at=500), lambda: 0) is not None
    assert plan(transcript(9), Folding(size=1_200), lambda: 200) is not None


def test_the_last_turns_stay_with_their_results_and_what_was_asked() -> None:
    one = transcript(9)
    assert fold(one, Folding(keep=3, size=1_000)) == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert ids(one.history()) == ["u1", "f1", "a7", "c7", "a8", "c8", "a9", "c9"]
    stands_for = one.history()[1]
    assert stands_for == UserMessage("f1", "short", about=NoteKind.FOLDED)
    assert len(one.history(whole=True)) == 19


def test_fewer_turns_stay_when_they_are_too_long_themselves_but_one_at_least() -> None:
    one = transcript(9)
    assert fold(one, Folding(keep=8, size=600))[-1] == "a7"  # 540 are allowed, two turns have 220 tokens
    one = transcript(9, text=LONG * 50)
    assert fold(one, Folding(keep=8, size=600))[-1] == "a8"


def test_the_last_message_of_a_person_stays_and_what_the_loop_said_goes() -> None:
    said = (
        UserMessage("u2", "Quick", "Ben"),
        UserMessage("n1", "Hm", about=NoteKind.CIRCLES),
        UserMessage("u3", "Now"),
    )
    one = transcript(9, *said)
    assert fold(one, Folding(keep=1, size=1_000)) == [*(f"a{n}" for n in range(1, 9)), "u2", "n1"]
    assert ids(one.history()) == ["u1", "f1", "u3", "a9", "c9"]


def test_between_two_folds_each_request_begins_as_the_one_before() -> None:
    one = transcript(9)
    fold(one, Folding(keep=3, size=1_000))
    before, folds = one.history(), 0
    for n in range(10, 40):
        call = ToolCall(f"c{n}", "look", {"n": n})
        one.messages.append(AssistantMessage(f"a{n}", f"Turn {n}", calls=(call,)))
        one.calls[call.id] = CallEntry(call, result=ToolResult(call.id, LONG))
        if fold(one, Folding(keep=3, size=1_000), n):
            folds += 1
        else:
            assert one.history()[: len(before)] == before
        before = one.history()
    assert folds <= 8


def test_a_summary_takes_in_the_one_before_it_and_a_layer_stands_behind_it() -> None:
    for strategy, shown in ((SUMMARY, ["f2"]), (LAYERED, ["f1", "f2"])):
        one = transcript(9)
        folding = Folding(strategy, keep=2, size=1_000)
        fold(one, folding)
        more = transcript(18)
        one.messages += more.messages[10:]
        one.calls |= more.calls
        found = plan(one, folding, lambda: 0)
        assert found is not None
        text = material(one, found.messages, found.folds, folding.room)
        assert text.startswith("short\n\nAgent: ") == (strategy is SUMMARY)
        assert found.count == len(found.messages) + (one.folds[0].count if strategy is SUMMARY else 0)
        fold(one, folding, 2)
        assert [fold.message for fold in one.shown_folds()] == shown
        assert [id for id in ids(one.history()) if id[0] in "uf"] == ["u1", *shown]


def test_layers_become_one_when_they_take_too_much_room() -> None:
    one = transcript(9)
    folding = Folding(LAYERED, keep=2, size=1_000)
    fold(one, folding, text=LONG * 3)
    more = transcript(18)
    one.messages += more.messages[10:]
    one.calls |= more.calls
    fold(one, folding, 2)
    assert [fold.message for fold in one.shown_folds()] == ["f2"]


def test_a_request_is_measured_by_what_the_last_one_was_counted_as() -> None:
    one = transcript(3)
    guessed = estimate(one, lambda: 1_000)
    assert guessed > 1_300
    one.usages["a2"] = Usage(input_tokens=5_000, output_tokens=50)
    assert 5_250 < estimate(one, lambda: 1_000) < 5_300  # its result, and the turn after it
    fold(one, Folding(keep=1), forced=True)
    assert estimate(one, lambda: 1_000) < 1_300


def test_a_fold_that_is_forced_folds_what_would_fit_and_never_the_last_turn() -> None:
    assert fold(transcript(3), Folding(), forced=True) == ["a1", "a2"]
    assert fold(transcript(1), Folding(), forced=True) == []
    assert fold(Transcript([UserMessage("u1", LONG)]), Folding(size=10), forced=True) == []


def test_a_fold_names_only_what_was_whole_until_then_so_it_does_not_grow_with_the_conversation() -> None:
    one = transcript(9)
    longest = 0
    for n in range(10, 200):
        call = ToolCall(f"c{n}", "look", {"n": n})
        one.messages.append(AssistantMessage(f"a{n}", f"Turn {n}", calls=(call,)))
        one.calls[call.id] = CallEntry(call, result=ToolResult(call.id, LONG))
        longest = max(longest, len(fold(one, Folding(SUMMARY, keep=3, size=1_000), n)))
    assert longest <= 10
    (shown,) = one.shown_folds()
    assert shown.count == sum(len(each.messages) for each in one.folds) > 180


def test_also_what_fits_is_folded_after_so_many_turns_if_the_agent_wants_it() -> None:
    folding = Folding(SUMMARY, keep=3, every=4)
    assert fold(transcript(6), folding) == []
    one = transcript(7)
    assert fold(one, folding) == ["a1", "a2", "a3", "a4"]
    assert fold(one, folding, 2) == []


def test_a_summary_is_never_replaced_by_messages_that_are_left_out() -> None:
    one = transcript(9)
    fold(one, Folding(SUMMARY, keep=2, size=1_000))
    more = transcript(18)
    one.messages += more.messages[10:]
    one.calls |= more.calls
    fold(one, Folding(WINDOW, keep=2, size=1_000), 2)
    assert [fold.message for fold in one.shown_folds()] == ["f1", "f2"]


@pytest.mark.parametrize(("turns", "text"), [(40, LONG), (40, "字" * 3_000), (3_000, "x")])
def test_who_sums_up_never_gets_more_to_read_than_there_is_room_for(turns: int, text: str) -> None:
    one = transcript(turns, text=text)
    every = [message.id for message in one.messages]
    read = material(one, every, (), 1_000)
    assert len(read.encode()) <= 1_000 * 3.5
    assert read.startswith("User Ann: Do it")
    assert f"Turn {turns}" in read
    assert material(one, every, (), 1_000) == read


def test_who_sums_up_reads_calls_results_and_the_ends_of_long_ones() -> None:
    one = transcript(1, text="a" * 5_000 + "b" * 5_000)
    text = as_text(one, one.messages[1])
    assert text.startswith('Agent: Turn 1\nAgent called look {"n":1}\nResult: aaa')
    assert "[4000 characters left out]" in text
    assert as_text(one, one.messages[0]) == "User Ann: Do it"
    assert as_text(one, UserMessage("n1", "Hm", about=NoteKind.CIRCLES)) == "Note: Hm"


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 800)), max_size=12),
    st.sampled_from(list(Strategy)),
    st.integers(1, 5),
    st.integers(50, 2_000),
)
def test_whatever_is_folded_no_call_is_cut_from_its_result(turns, strategy, keep, size) -> None:
    one = Transcript([UserMessage("u0", "Do it")])
    for n, (count, length) in enumerate(turns):
        made = tuple(ToolCall(f"c{n}.{k}", "look", {"k": k}) for k in range(count))
        one.messages.append(AssistantMessage(f"a{n}", "said", calls=made))
        one.calls |= {call.id: CallEntry(call, result=ToolResult(call.id, "y" * length)) for call in made}
        if not made:
            one.messages.append(UserMessage(f"u{n + 1}", "And?"))
        fold(one, Folding(strategy, keep, size), n)
        history = list(one.history())
        assert history[0] == one.messages[0]
        people = [m for m in one.messages if isinstance(m, UserMessage)]
        assert people[-1] in history
        while history:
            message = history.pop(0)
            assert not isinstance(message, ToolResult)
            for call in message.calls if isinstance(message, AssistantMessage) else ():
                assert history.pop(0) == one.calls[call.id].result


@pytest.mark.parametrize("strategy", list(Strategy))
def test_folding_again_right_away_changes_nothing(strategy: Strategy) -> None:
    one = transcript(30)
    fold(one, Folding(strategy, size=1_000))
    assert fold(one, Folding(strategy, size=1_000), 2) == []
