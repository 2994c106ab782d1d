"""Pages get the ends of a result and its size; the whole text stays in the database."""

import pytest

from agentweb.runs import selectors
from agentweb.runs.models import Call
from agentweb.runs.timeline import whole_run
from agentweb.ui.calls import call_card
from agentweb.ui.excerpt import excerpt
from tests.runs.waiting_call import waiting_approvals

LONG = "\n".join(f"第 {number} 行" for number in range(20_000))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("result", "full"),
    [
        ("short", ""),
        ("", ""),
        ("cut …", LONG),
        ("cut …", "x" * 15_000),
        ("cut …", "y" * 16_001),
        ("\n" * 100, ""),
        ("🙂" * 12_500, ""),
    ],
)
def test_the_ends_that_the_database_cuts_out_show_what_the_whole_text_would(cast, result, full):
    run = cast.builder_run()
    waiting_approvals(cast, run)
    Call.objects.update(result=result, result_full=full)
    view = whole_run(selectors.run_for(cast.owner, run.public_id))
    (call,) = view.entries[-1].shown_calls
    assert "result_full" in call.get_deferred_fields()
    assert call_card(call, {}).result == excerpt(full or result)
