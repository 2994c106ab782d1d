"""The calculator works out arithmetic, and nothing else happens whatever it is given."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.engine.ports import ToolError
from agentweb.toolbox.calculator import calculator, evaluate, written
from tests.toolbox.calling import context_in, run


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("1 + 1", "2"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("-2 ** 2", "-4"),
        ("+3 - -3", "6"),
        ("7 / 2", "3.5"),
        ("6 / 3", "2"),
        ("7 // 2", "3"),
        ("-7 % 3", "2"),
        ("0.1 + 0.2", "0.3"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("2 ^ 10", "1024"),
        ("2 ** -1", "0.5"),
        ("3 × 4 ÷ 2 − 1", "5"),
        ("（1 + 2） * 3", "9"),
        ("1e3", "1000"),
        ("1 / 3", "0.333333333333333"),
        ("1e300 * 10", "1e+301"),
        ("0x1f + 0b11", "34"),
        ("1_000 + 1", "1001"),
        ("sqrt(16) + cbrt(27)", "7"),
        ("sin(pi / 2)", "1"),
        ("log(e)", "1"),
        ("log(8, 2)", "3"),
        ("log10(1000)", "3"),
        ("degrees(pi)", "180"),
        ("hypot(3, 4)", "5"),
        ("round(2.567, 2)", "2.57"),
        ("round(2.5)", "2"),
        ("max(1, 2, 3) - min(4, 5)", "-1"),
        ("abs(-3)", "3"),
        ("factorial(20)", "2432902008176640000"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("0 ** 0", "1"),
        ("(-1) ** 1000000", "1"),
        ("  1 + 1\n", "2"),
    ],
)
def test_arithmetic(expression: str, answer: str) -> None:
    assert written(evaluate(expression)) == answer


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("1 +", "not an arithmetic expression"),
        ("(1", "not an arithmetic expression"),
        ("1; 2", "not an arithmetic expression"),
        ("x = 1", "not an arithmetic expression"),
        ("import os", "not an arithmetic expression"),
        ("1/0", "Division by zero"),
        ("1 // 0", "Division by zero"),
        ("1 % 0", "Division by zero"),
        ("0 ** -1", "Division by zero"),
        ("sqrt(-1)", "no value"),
        ("log(0)", "no value"),
        ("(-8) ** 0.5", "no value"),
        ("asin(2)", "no value"),
        ("1e308 * 10", "too large"),
        ("1e999", "too large"),
        ("exp(1000)", "too large"),
        ("9 ** 9 ** 9", "too large"),
        ("10 ** 1000000000", "too large"),
        ("2 ** 3400 * 2 ** 3400", "too large"),
        ("factorial(401)", "from 0 to 400"),
        ("factorial(1.5)", "whole numbers"),
        ("factorial(-1)", "whole numbers"),
        ("round(5, -1000000000)", "up to 100"),
        ("foo", '"foo" is unknown'),
        ("sqrt", "is a function"),
        ("foo(1)", 'no function "foo"'),
        ("sqrt(1, 2)", "does not take"),
        ("gcd(1.5, 2)", "does not take"),
        ("max()", "does not take"),
        ("sqrt(x=4)", "not arithmetic"),
        ("1,000 + 1", "without commas"),
        ("'a' * 3", "not arithmetic"),
        ("True", "not arithmetic"),
        ("1j", "not arithmetic"),
        ("1 if 2 else 3", "not arithmetic"),
        ("1 < 2", "not arithmetic"),
        ("1 << 100", "not arithmetic"),
        ("~1", "not arithmetic"),
        ("[1]", "not arithmetic"),
        ("__import__('os').system('true')", "not arithmetic"),
        ("(1).__class__", "not arithmetic"),
        ("(lambda: 1)()", "not arithmetic"),
        ("().__class__.__bases__[0]", "not arithmetic"),
        ("max(*[1])", "not arithmetic"),
        ("1\x002", "no value|not an arithmetic"),
        ("\ud800", "cannot be read|not an arithmetic"),
        ("(" * 250 + "1" + ")" * 249, "not an arithmetic|too deeply"),
        ("1" * 501, "500 characters"),
    ],
)
def test_what_cannot_be_worked_out_is_said_in_words(expression: str, words: str) -> None:
    with pytest.raises(ToolError, match=words) as refused:
        evaluate(expression)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    "expression", ["-" * 499 + "1", "1" + "+1" * 249, "2" + "**2" * 160, "9" * 499, "lcm(" + "9999991," * 60 + "1)"]
)
def test_long_expressions_end_in_a_value_or_in_words(expression: str) -> None:
    try:
        assert written(evaluate(expression))
    except ToolError as error:
        assert str(error)


@pytest.mark.filterwarnings("ignore:invalid .* literal:SyntaxWarning")
@given(st.text(alphabet="0123456789.+-*/%() ,episqrtlogmax", max_size=60))
def test_any_text_ends_in_a_number_or_in_words(expression: str) -> None:
    try:
        value = evaluate(expression)
    except ToolError:
        return
    assert isinstance(value, int | float)


def test_the_tool_gives_the_number_as_text(tmp_path: Path) -> None:
    assert run(calculator, {"expression": "6 * 7"}, context_in(tmp_path)) == "42"
