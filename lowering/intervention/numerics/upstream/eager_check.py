"""The program's own function beside the compiled one: what Dynamo captured, and all that follows."""

import contextlib
import functools
import importlib
import random
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule

from inspect_compile.facts import Checked, Fact, NumericsCall, NumericsRequest
from inspect_compile.knowledge.numerics.levels import CALL, COMPILED, DYNAMO, DYNAMO_GRAPH, FUNCTION, between
from inspect_compile.knowledge.numerics.verdicts import EXACT, NEARER, NOT_COMPARABLE, ROUNDING, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.elements import is_equal
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, not_checked
from inspect_compile.lowering.intervention.numerics.judges import near
from inspect_compile.lowering.intervention.numerics.left_behind.left import Pair, sharing, strides_of, with_strides
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside
from inspect_compile.lowering.intervention.numerics.upstream.held_back import HeldBack
from inspect_compile.lowering.intervention.numerics.upstream.shadow import (
    ChangesHistoryError,
    Shadow,
    Shadowed,
)
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat.attributes import ORIGINAL, WRAPPER_ID

_COMPILES: Final = "OptimizeContext"
"""torch's class of what torch.compile returns functions with; others run what is compiled, or nothing compiled."""

_EXACT: Final = (bool, int, str)
"""Types of Python values that rounding does not change, unless they come from a tensor's values."""
_RIGHT: Final = (EXACT, ROUNDING, NEARER)
_LONGEST: Final = 120
_KEEPS: Final = "it keeps tensors for its next call, so a second call computes something else"


class _Value(NamedTuple):
    """A tensor that the program's function returned or changed, or a Python value that it returned."""

    name: str
    plain: Any
    shadowed: Shadowed | None
    now: Any
    """For one that it changed, the tensor itself."""
    strides: tuple[int, ...] | None = None
    """See `strides_of`."""


class _Function(NamedTuple):
    """What the program's function did."""

    values: list[_Value]
    pairs: set[Pair]
    """What shared memory when it had returned."""
    itself: set[str]
    """Results that are an argument, or another result, itself: what returns its argument in eager, as a dropout outside
    of training, may return a copy.
    """
    made: dict[int, Any]
    """The memory that it made and that is still there after its call, see `Shadow.made`."""


class Compared(NamedTuple):
    """A value beside that of the program's function."""

    row: Checked
    value: _Value
    now: Any
    """What the compiled function gave."""
    has_form: bool = True
    """What shares its memory is not what makes it wrong."""


class _Here(threading.local):
    is_inside: bool = False
    """A compiled function runs, and what it calls is a part of it."""
    held: HeldBack | None = None
    """What was found in the checked call that is under way."""


class EagerCheck:
    """Calls the functions of the program beside the compiled ones."""

    def __init__(self, asked: NumericsRequest, tell: Callable[[Fact], None]) -> None:
        self._asked = asked
        self._tell = tell
        self._here = _Here()

    def ran(self, graph: str) -> None:
        """A compiled graph is about to run in this thread."""
        if self._here.held is not None:
            self._here.held.graphs.append(graph)

    def returned(self, graph: str, number: int, module: GraphModule, left: Left, traced: Left | None) -> None:
        """A compiled graph has run in this thread, see `HeldBack.returned`."""
        if self._here.held is not None:
            self._here.held.returned(graph, number, module, left, traced)

    def holds(self, fact: Fact) -> bool:
        """Something was found in this thread. True if it is told later, at the end of a checked call."""
        return self._here.held is not None and self._here.held.add(fact)

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
        original = getattr(compiled, ORIGINAL)
        given = arguments_of(original, args, kwargs)
        function, reason = self._eager(original, args, kwargs, given)
        held = self._here.held = HeldBack(function.made)
        compared: list[Compared] = []
        try:
            found = compiled(*args, **kwargs)
            reason = reason or (_KEEPS if held.is_kept else "")
            graph = held.graphs[0] if held.graphs else str(getattr(compiled, "__name__", "function"))
            if not reason:
                compared, reason = self._judged(graph, number, function, found, given)
        finally:
            self._here.held = None
            # The reference's results, with which the program may continue, say nothing of the compiled code's.
            is_own = self._asked.continue_with == "compiled"
            right = [one.now for one in compared if is_own and verdict(one.row) in _RIGHT]
            is_compared = bool(compared) and all(verdict(one.row) != NOT_COMPARABLE for one in compared)
            for fact in held.released(right, is_compared=is_compared):
                self._tell(fact)
        for one in compared:
            self._tell(with_fields(one.row, level=_blamed(one, held)))
        if reason:
            reason = f"the program's function: {reason}"
            self._tell(NumericsCall(graph=graph, call=number, reason=reason, against=FUNCTION))
        return found

    def _judged(
        self, graph: str, number: int, function: _Function, found: Any, named: Sequence[tuple[str, Any]]
    ) -> tuple[list[Compared], str]:
        """What was compared, and why nothing was. See `_rows`."""
        try:
            with torch.no_grad():
                return self._rows(graph, number, function, found, named), ""
        except Exception as error:
            let_pass(error)
            return [], _text(error)

    def _eager(
        self, function: Callable[..., Any], args: Any, kwargs: Any, named: Sequence[tuple[str, Any]]
    ) -> tuple[_Function, str]:
        """What the program's function does, all put back afterwards; and why it is not known. `named` are tensors that
        it has beside those that it makes.
        """
        nothing = _Function([], set(), set(), {})
        given = [one for _, one in _leaves((args, kwargs))]
        reason = not_checked(given)
        if reason:
            return nothing, reason
        shadow = Shadow()
        tensors = [one for _, one in named if isinstance(one, torch.Tensor) and one.layout is torch.strided]
        forms = [_form(one) for one in tensors]
        try:
            with RandomState(given), _other_random():
                try:
                    with torch.compiler.set_stance("force_eager"), shadow:
                        found = function(*args, **kwargs)
                    reshaped = [one for one, form in zip(tensors, forms, strict=True) if _form(one) != form]
                    values, pairs = _values(found, shadow, reshaped), _pairs(named, found)
                    itself = _itself(named, found)
                    del found, reshaped
                finally:
                    shadow.undo()
        except Exception as error:
            let_pass(error)
            return nothing, _text(error)
        return _Function(values, pairs, itself, shadow.made()), ""

    def _rows(
        self, graph: str, number: int, function: _Function, found: Any, named: Sequence[tuple[str, Any]]
    ) -> list[Compared]:
        """What the compiled function `found`, and left of what is `named`, beside what the program's `function` did."""
        row = Checked(graph=graph, call=number, index=-1, level=CALL, against=FUNCTION)
        compiled = dict(_leaves(found))
        pairs = _pairs(named, found)
        compared = []
        for one in function.values:
            now = one.now if one.now is not None else compiled.get(one.name)
            named_row = with_fields(row, buffer=one.name)
            if isinstance(one.plain, torch.Tensor) and one.shadowed is not None:
                said = beside(named_row, now, one.plain, functools.partial(_known, one.shadowed))
                if verdict(said) == WRONG or one.now is not None or said.reason:
                    compared.append(Compared(said, one, now))
                    continue
                said = with_strides(_with_sharing(said, pairs, function), now, one.strides)
                compared.append(Compared(said, one, now, has_form=not said.mismatch))
            elif type(now) in _EXACT:
                differs = "" if now == one.plain else f"{now!r}, not {one.plain!r}"[:_LONGEST]
                compared.append(Compared(with_fields(named_row, is_equal=not differs, mismatch=differs), one, now))
        return compared


def _blamed(one: Compared, held: HeldBack) -> str:
    """The level that made this wrong. Dynamo, if its graph gives what the compiled function gives, and not what the
    program's does, on inputs that are right.
    """
    row, value, now, has_form = one
    if verdict(row) != WRONG or held.is_wrong:
        return CALL
    if value.shadowed is None:
        # No graph computes a Python value: it comes from sizes and from what Python does.
        return CALL if held.is_unknown else DYNAMO
    traced = held.traced(now)
    if not has_form or not isinstance(traced, torch.Tensor) or (held.is_unknown and len(held.graphs) > 1):
        return between(FUNCTION, COMPILED)
    plain = Checked(graph=row.graph, call=row.call, index=-1, level=CALL, against=FUNCTION, buffer=row.buffer)
    said = verdict(beside(plain, traced, value.plain, functools.partial(_known, value.shadowed)))
    if said == NOT_COMPARABLE:
        return between(FUNCTION, COMPILED)
    if said != WRONG:
        return between(DYNAMO_GRAPH, COMPILED)
    is_given = traced.shape == now.shape and (is_equal(now, traced) or near(plain, now, traced) is not None)
    return DYNAMO if is_given else between(FUNCTION, COMPILED)


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


def _form(value: torch.Tensor) -> Any:
    return value.size(), value.stride(), value.storage_offset()


def _values(found: Any, shadow: Shadow, reshaped: Sequence[torch.Tensor]) -> list[_Value]:
    """Copies of what was returned and of what was changed, or got other sizes or strides."""
    values = []
    with torch.no_grad():
        for name, one in _leaves(found):
            if isinstance(one, torch.Tensor):
                values.append(_Value(name, one.detach().clone(), _copied(shadow.value(one)), None, strides_of(one)))
            elif type(one) in _EXACT and not shadow.has_sizes_of_values:
                values.append(_Value(name, one, None, None))
        changed = shadow.changed()
        changed += [one for one in reshaped if all(one is not other for other in changed)]
        for at, one in enumerate(changed):
            values.append(_Value(f"changed tensor {at}", one.detach().clone(), _copied(shadow.value(one)), one))
    return values


def arguments_of(function: Any, args: Any, kwargs: Any) -> list[tuple[str, Any]]:
    """The tensors that a function has beside those that it makes, with names: arguments, and those of its module."""
    module = getattr(function, "__self__", None)
    owned = [*module.named_parameters(), *module.named_buffers()] if isinstance(module, torch.nn.Module) else []
    return [*_leaves(args, "argument"), *_leaves(kwargs, "argument"), *owned]


def _pairs(named: Sequence[tuple[str, Any]], found: Any) -> set[Pair]:
    """Which results share memory with others, or with what has these names."""
    results = list(_leaves(found))
    names = [*(name for name, _ in named), *(name for name, _ in results)]
    left = Left([one for _, one in results], [one for _, one in named])
    plain = sharing(left, names, range(len(results)))
    called = {f"result {at}": name for at, (name, _) in enumerate(results)}
    return {(called[one], called.get(other, other)) for one, other in plain}


def _itself(named: Sequence[tuple[str, Any]], found: Any) -> set[str]:
    """See `_Function`."""
    tensors = [(name, one) for name, one in (*named, *_leaves(found)) if isinstance(one, torch.Tensor)]
    counts = Counter(id(one) for _, one in tensors)
    return {name for name, one in tensors if counts[id(one)] > 1}


def _with_sharing(row: Checked, pairs: set[Pair], function: _Function) -> Checked:
    """`row`, wrong if the result shares memory as `pairs` say and not as in the program's function."""
    more = sorted(other for one, other in pairs - function.pairs if one == row.buffer)
    less = sorted(other for one, other in function.pairs - pairs if one == row.buffer)
    less = (
        []
        if row.buffer in function.itself
        else [one for one in less if one not in function.itself or "result" not in one]
    )
    if not more and not less:
        return row
    words = [f"in the memory of {', '.join(more)}, not in its own"] if more else []
    words += [f"in its own memory, not in that of {', '.join(less)}"] if less else []
    return with_fields(row, mismatch="; ".join(words)[:_LONGEST])


def of_values(function: _Function, named: Sequence[tuple[str, Any]], found: Any) -> _Function:
    """What a function does to values alone: to its results, and to those of `named` that it changes. Which memory the
    results `found` have, and with which strides, is free.
    """
    known = {id(one) for _, one in named}
    values = [one._replace(strides=None) for one in function.values if one.now is None or id(one.now) in known]
    return function._replace(values=values, pairs=_pairs(named, found))


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


def _leaves(value: Any, what: str = "result") -> Iterator[tuple[str, Any]]:
    """What is in nested containers, with a name for each."""
    found, _ = names.FLATTEN.load()(value)
    for path, one in found:
        yield f"{what}{names.PATH_TEXT.load()(path)}", one


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
