"""Arithmetic that cannot do anything else, nor take long."""

import ast
import math
import operator
from collections.abc import Callable
from typing import NoReturn

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolError
from agentweb.toolbox.tool import tool

MOST_CHARACTERS = 500
MOST_BITS = 3_400  # of a whole number: about a thousand digits
MOST_FACTORIAL = 400

Number = int | float

_FROM_MATH: tuple[Callable[..., Number], ...] = (
    *(math.sqrt, math.cbrt, math.exp, math.log, math.log2, math.log10, math.hypot, math.degrees, math.radians),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.atan2, math.sinh, math.cosh, math.tanh),
    *(math.floor, math.ceil, math.trunc, math.gcd, math.lcm),
)
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    **{function.__name__: function for function in _FROM_MATH},
    "abs": abs,
    "min": min,
    "max": max,
}
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
_SIGNS: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_WRITTEN_ELSEWHERE = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "（": "(", "）": ")", "，": ",", "^": "**"}
)


@tool(label="Calculator", reads=True, repeatable=True, risk=Risk.LOW, timeout_s=10)
def calculator(expression: str) -> str:
    """Work out an arithmetic expression exactly.

    There are + - * / // % ** and parentheses; the constants pi, e and tau; and the functions sqrt, cbrt, exp, log
    (natural, or log(x, base)), log2, log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh (angles in
    radians), degrees, radians, hypot, floor, ceil, trunc, round, abs, min, max, gcd, lcm and factorial.

    Args:
        expression: For example (17.5 + 2) * 3 ** 2 / sqrt(16).
    """
    return written(evaluate(expression))


def evaluate(expression: str) -> Number:
    """The value. Raises ToolError, in words, for what is not arithmetic, has no value or is too large."""
    if not expression.strip():
        raise ToolError("The expression is empty.")
    if len(expression) > MOST_CHARACTERS:
        raise ToolError(f"The expression is longer than {MOST_CHARACTERS} characters.")
    try:
        tree = ast.parse(expression.translate(_WRITTEN_ELSEWHERE).strip(), mode="eval")
        return _value(tree.body)
    except SyntaxError as error:
        raise ToolError(f"This is not an arithmetic expression: {error.msg}.") from None
    except ZeroDivisionError:
        raise ToolError("Division by zero.") from None
    except OverflowError:
        raise ToolError("A number in it becomes too large.") from None
    except (RecursionError, MemoryError):
        raise ToolError("The expression is nested too deeply.") from None
    except ValueError:
        raise ToolError("The expression has no value among the real numbers, or cannot be read.") from None


def written(value: Number) -> str:
    """Whole numbers in full, others to 15 digits, so that 0.1 + 0.2 is 0.3."""
    if isinstance(value, int):
        return str(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.Name(id=name):
            return _constant(name)
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _bounded(_power(_value(left), _value(right)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _bounded(_call(name, [_value(argument) for argument in arguments]))
        case ast.Tuple():
            _refuse("write numbers without commas")
        case _:
            _refuse(f'"{ast.unparse(node)[:60]}" is not arithmetic')


def _refuse(why: str) -> NoReturn:
    raise ToolError(f"This cannot be worked out: {why}.")


def _constant(name: str) -> Number:
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _FUNCTIONS or name in _SPECIAL:
        _refuse(f"{name} is a function, write {name}(…)")
    _refuse(f'"{name[:60]}" is unknown; there are the constants {", ".join(_CONSTANTS)}')


def _call(name: str, values: list[Number]) -> Number:
    function = _SPECIAL.get(name) or _FUNCTIONS.get(name)
    if function is None:
        _refuse(f'there is no function "{name[:60]}"; there are {", ".join(sorted([*_FUNCTIONS, *_SPECIAL]))}')
    try:
        return function(*values)
    except TypeError:
        _refuse(f"{name} does not take these numbers")


def _power(base: Number, exponent: Number) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent > 0 and (abs(base) > 1 and exponent * math.log2(abs(base)) > MOST_BITS):
        raise OverflowError
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("complex")
    return float(result) if isinstance(result, float) else int(result)


def _round(number: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > 100:
        _refuse("round takes a number and a count of digits up to 100")
    return round(number, digits) if digits else round(number)


def _factorial(number: Number) -> Number:
    if number != int(number) or not 0 <= number <= MOST_FACTORIAL:
        _refuse(f"factorial takes whole numbers from 0 to {MOST_FACTORIAL}")
    return math.factorial(int(number))


_SPECIAL: dict[str, Callable[..., Number]] = {"round": _round, "factorial": _factorial}


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("not a number")
        if math.isinf(value):
            raise OverflowError
    elif value.bit_length() > MOST_BITS:
        raise OverflowError
    return value
