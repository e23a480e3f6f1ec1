"""The kind of error that a statement makes, in a sentence."""

from collections.abc import Mapping
from typing import Final

from inspect_compile.analysis.numerics.error_kinds import ErrorKind
from inspect_compile.knowledge.numerics import error_kinds as kinds

_SENTENCES: Final[Mapping[str, str]] = {
    kinds.NOT_WRITTEN: "not written: the element keeps what was in its memory",
    kinds.LEFT_OUT: "it skips a part of the range of its variable",
    kinds.STORED_ELSEWHERE: "index: a correct value is stored as another element",
    kinds.OTHER_VARIABLE: "it stores another variable",
    kinds.OTHER_NODE: "the lowering computes something else than the node",
    kinds.BUFFER: "it reads another buffer: {other} has this value at the same place",
    kinds.MASK: "mask: it is the value for elements that the mask leaves out",
    kinds.UNINITIALISED: "it reads memory that nothing wrote",
    kinds.CONSTANT: "another constant",
    kinds.INITIAL: "the reduction begins with another value, or is not reset",
    kinds.SKIPPED: "this step is missing: the value is what it was before",
    kinds.TWICE: "this step is done twice",
    kinds.NARROWED: "extra rounding: it is the correct value in {other}",
    kinds.NOT_NARROWED: "the cast to {other} is missing",
    kinds.SIGN: "it is the correct value with the opposite sign",
    kinds.SWAPPED: "its operands are swapped",
    kinds.CHOICE: "it is the other one of the two values",
    kinds.OPERATION: "it is {other} of its operands",
    kinds.OPERAND: "it is its operand {other}: the operation is missing",
    kinds.APPROXIMATION: "{amount:.2g} ULP off, as {other} may be",
    kinds.FUSED: "FMA: the product that is added was not rounded before",
    kinds.CANCELLATION: "cancellation: the operands agree in {amount:.0f} bits, and their errors remain",
    kinds.UNKNOWN: "of an unknown kind",
}


def sentence(found: ErrorKind) -> str:
    """One sentence, without a full stop."""
    if found.kind == kinds.INDEX and found.amount is not None:
        return f"index: it reads {_element(int(found.amount))}"
    if found.kind == kinds.DIVISION:
        how = ": it multiplies by the rounded reciprocal" if found.other else ""
        return f"division: {found.amount or 0.0:.2g} ULP off{how}"
    if found.kind == kinds.ORDER:
        off = f", {found.amount:.2g} ULP off" if found.amount is not None else ""
        return f"order of the sum: within what another order makes{off}"
    return _SENTENCES[found.kind].format(other=found.other, amount=found.amount)


def _element(steps: int) -> str:
    if abs(steps) == 1:
        return "the element before" if steps < 0 else "the element after"
    return f"{abs(steps):,} elements {'before' if steps < 0 else 'after'}"
