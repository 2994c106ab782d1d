"""Conditions that the form makes: the same texts and numbers fit that an admin has in mind."""

import pytest

from agentweb.policy.conditions import Check, ConditionError, condition
from agentweb.policy.faults import faults
from agentweb.schema.validate import fits
from tests.policy.rules import ALLOW, rule


@pytest.mark.parametrize(
    ("test", "value", "yes", "no"),
    [
        (Check.IS, "Beijing", ["Beijing"], ["beijing", "Beijing ", None]),
        (Check.IS, "3", ["3", 3], [4, True]),
        (Check.IS, "true", [True, "true"], [False, 1]),
        (Check.ONE_OF, "a, b,3", ["a", "b", 3], ["c", "a, b", ""]),
        (Check.BEGINS, "reports/", ["reports/", "reports/may.md"], ["report", "x/reports/", 5]),
        (Check.BEGINS, "a.b", ["a.b"], ["axb"]),
        (Check.NOT_BEGINS, "reports/", ["x/reports/", ""], ["reports/may.md", 5]),
        (Check.ENDS, ".py", ["a.py"], ["apy", "a.py\n", "a.pyc"]),
        (Check.CONTAINS, "(x|y)*", ["a(x|y)*b"], ["xyx"]),
        (Check.AT_LEAST, "10", [10, 10.5], [9, "10"]),
        (Check.AT_MOST, "-0.5", [-0.5, -1], [0]),
    ],
)
def test_what_fits(test, value, yes, no):
    schema = condition("x", test, value)
    assert faults(rule(ALLOW, condition=schema)) == []
    assert [found for found in yes if not fits(schema, {"x": found})] == []
    assert [found for found in no if fits(schema, {"x": found})] == []
    assert fits(schema, {}) is False


@pytest.mark.parametrize("value", ["", "ten", "1e400", "NaN", "٣٣.a"])
def test_a_number_must_be_one(value):
    with pytest.raises(ConditionError):
        condition("x", Check.AT_LEAST, value)
