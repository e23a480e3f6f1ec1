"""The program's own function beside the compiled one: what Dynamo captured, and all that follows."""

import contextlib
import functools
import importlib
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.facts import Asked, Checked, Fact, NumericsCall
from inspect_compile.knowledge.numerics.levels import CALL, DYNAMO, FUNCTION
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, not_checked
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside
from inspect_compile.lowering.intervention.numerics.upstream.shadow import ChangesHistoryError, Shadow, Shadowed
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat.attributes import ORIGINAL, WRAPPER_ID

_COMPILES: Final = "OptimizeContext"
"""torch's class of what torch.compile returns functions with; others run what is compiled, or nothing compiled."""

_EXACT: Final = (bool, int, str)
"""Types of Python values that rounding does not change, unless they come from a tensor's values."""
_LONGEST: Final = 120


class _Value(NamedTuple):
    """A tensor that the program's function returned or changed, or a Python value that it returned."""

    name: str
    plain: Any
    shadowed: Shadowed | None
    now: Any
    """For one that it changed, the tensor itself."""


class _Here(threading.local):
    is_inside: bool = False
    """A compiled function runs, and what it calls is a part of it."""
    graph: str = ""
    """The first compiled graph that ran in it."""
    is_wrong: bool = False
    """Something was wrong at another level."""
    is_unknown: bool = False
    """A result of a graph could not be compared with the level above it."""


class EagerCheck:
    """Calls the functions of the program beside the compiled ones."""

    def __init__(self, asked: Asked, tell: Callable[[Fact], None]) -> None:
        self._asked = asked
        self._tell = tell
        self._here = _Here()

    def ran(self, graph: str) -> None:
        """A compiled graph is about to run in this thread."""
        self._here.graph = self._here.graph or graph

    def told(self, fact: Fact) -> None:
        """Something was found in this thread."""
        if isinstance(fact, Checked):
            said = verdict(fact)
            self._here.is_wrong = self._here.is_wrong or said == WRONG
            self._here.is_unknown = self._here.is_unknown or (fact.index < 0 and said == NOT_COMPARABLE)

    def beside(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """What torch.compile returned for a function, with the check in chosen calls."""
        done = 0

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            if self._here.is_inside or torch.compiler.is_compiling():
                return compiled(*args, **kwargs)
            done += 1
            if not self._asked.has_call(done):
                return compiled(*args, **kwargs)
            self._here.is_inside = True
            try:
                return self._checked(compiled, args, kwargs, done)
            finally:
                self._here.is_inside = False

        functools.update_wrapper(call, compiled)
        setattr(call, WRAPPER_ID, id(call))
        names.SKIP_CODE.load()(call.__code__)
        return call

    def _checked(self, compiled: Callable[..., Any], args: Any, kwargs: Any, number: int) -> Any:
        self._here.graph, self._here.is_wrong, self._here.is_unknown = "", False, False
        values, reason = self._eager(getattr(compiled, ORIGINAL), args, kwargs)
        found = compiled(*args, **kwargs)
        graph = self._here.graph or str(getattr(compiled, "__name__", "function"))
        rows: list[Checked] = []
        if not reason:
            try:
                with torch.no_grad():
                    rows = self._rows(graph, number, values, found)
            except Exception as error:
                let_pass(error)
                reason = _text(error)
        is_wrong, is_unknown = self._here.is_wrong, self._here.is_unknown
        for row in rows:
            blames = verdict(row) == WRONG and not is_wrong and not is_unknown
            self._tell(with_fields(row, level=DYNAMO) if blames else row)
        if reason:
            reason = f"the program's function: {reason}"
            self._tell(NumericsCall(graph=graph, call=number, reason=reason, against=FUNCTION))
        return found

    def _eager(self, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[list[_Value], str]:
        """What the program's function returns and changes, all put back afterwards; and why it is not known."""
        given = [one for _, one in _leaves((args, kwargs))]
        reason = not_checked(given)
        if reason:
            return [], reason
        shadow = Shadow()
        values: list[_Value] = []
        try:
            with RandomState(given), _other_random():
                try:
                    with torch.compiler.set_stance("force_eager"), shadow:
                        found = function(*args, **kwargs)
                    values = _values(found, shadow)
                finally:
                    shadow.undo()
        except Exception as error:
            let_pass(error)
            return [], _text(error)
        return values, ""

    def _rows(self, graph: str, number: int, values: list[_Value], found: Any) -> list[Checked]:
        row = Checked(graph=graph, call=number, index=-1, level=CALL, against=FUNCTION)
        compiled = dict(_leaves(found))
        rows = []
        for one in values:
            now = one.now if one.now is not None else compiled.get(one.name)
            named = with_fields(row, buffer=one.name)
            if isinstance(one.plain, torch.Tensor) and one.shadowed is not None:
                rows.append(beside(named, now, one.plain, functools.partial(_known, one.shadowed)))
            elif type(now) in _EXACT:
                said = "" if now == one.plain else f"{now!r}, not {one.plain!r}"[:_LONGEST]
                rows.append(with_fields(named, is_equal=not said, mismatch=said))
        return rows


def install(check: Any) -> None:
    """Have functions that are compiled from now on called beside the program's, if that was asked for."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def compile_(context: Any, function: Any) -> Any:
            found = plain(context, function)
            eager: EagerCheck | None = check.eager
            if eager is None:
                return found
            if type(context).__name__ == _COMPILES and type(found) is types.FunctionType and hasattr(found, ORIGINAL):
                return eager.beside(found)
            return found

        return compile_

    replace(importlib.import_module(names.COMPILES.module), names.COMPILES, watched)


def _values(found: Any, shadow: Shadow) -> list[_Value]:
    """Copies of what was returned and of what was changed."""
    values = []
    with torch.no_grad():
        for name, one in _leaves(found):
            if isinstance(one, torch.Tensor):
                values.append(_Value(name, one.detach().clone(), _copied(shadow.value(one)), None))
            elif type(one) in _EXACT and not shadow.has_sizes_of_values:
                values.append(_Value(name, one, None, None))
        for at, one in enumerate(shadow.changed()):
            values.append(_Value(f"changed tensor {at}", one.detach().clone(), _copied(shadow.value(one)), one))
    return values


def _known(shadowed: Shadowed, tensor: torch.Tensor) -> Shadowed:
    return shadowed


def _copied(shadowed: Shadowed) -> Shadowed:
    exact, noisy = shadowed.exact.clone(), shadowed.noisy(0).clone()
    return Shadowed(
        exact,
        lambda _: noisy,
        shadowed.reason,
        is_random=shadowed.is_random,
        has_sizes_of_values=shadowed.has_sizes_of_values,
    )


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """What is in nested containers, with a name for each."""
    found, _ = names.FLATTEN.load()(value)
    for path, one in found:
        yield f"result{names.PATH_TEXT.load()(path)}", one


@contextlib.contextmanager
def _other_random() -> Iterator[None]:
    """The random numbers of Python and NumPy are afterwards those of before."""
    numpy = sys.modules.get("numpy")
    state, other = random.getstate(), None if numpy is None else numpy.random.get_state()
    try:
        yield
    finally:
        random.setstate(state)
        if numpy is not None:
            numpy.random.set_state(other)


def _text(error: Exception) -> str:
    error.__traceback__ = None
    if isinstance(error, ChangesHistoryError):
        return str(error)
    return f"{type(error).__name__}: {error}"[:300]
