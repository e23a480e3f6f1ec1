"""The program's own function beside the compiled one: what Dynamo captured, and all that follows."""

import contextlib
import functools
import importlib
import random
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.facts import Asked, Checked, Fact, NumericsCall
from inspect_compile.knowledge.numerics.levels import CALL, COMPILED, DYNAMO, DYNAMO_GRAPH, FUNCTION, between
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import is_equal
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.shared import memory_of
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, not_checked
from inspect_compile.lowering.intervention.numerics.judges import near
from inspect_compile.lowering.intervention.numerics.left import Pair, sharing, strides_of, with_strides
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.upstream.beside import beside
from inspect_compile.lowering.intervention.numerics.upstream.shadow import (
    ChangesHistoryError,
    Shadow,
    Shadowed,
    memory_key,
)
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat.attributes import ORIGINAL, WRAPPER_ID

_COMPILES: Final = "OptimizeContext"
"""torch's class of what torch.compile returns functions with; others run what is compiled, or nothing compiled."""

_EXACT: Final = (bool, int, str)
"""Types of Python values that rounding does not change, unless they come from a tensor's values."""
_LONGEST: Final = 120
_KEEPS: Final = "it keeps tensors that it makes for its next call, so that a second call is another one"


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


class _Here(threading.local):
    is_inside: bool = False
    """A compiled function runs, and what it calls is a part of it."""
    graphs: tuple[str, ...] = ()
    """The compiled graphs that ran in it, in their order."""
    is_wrong: bool = False
    """Something was wrong at another level."""
    is_unknown: bool = False
    """A result of a graph could not be compared with the level above it."""
    made: Mapping[int, Any] = MappingProxyType({})
    """What the program's function made, see `_Function`."""
    is_kept: bool = False
    """A graph got something of that: the function was called in another state than the compiled one."""
    traced: tuple[tuple[Any, Any], ...] = ()
    """What its graphs returned or changed, and the same of Dynamo's graphs on the same inputs."""


class EagerCheck:
    """Calls the functions of the program beside the compiled ones."""

    def __init__(self, asked: Asked, tell: Callable[[Fact], None]) -> None:
        self._asked = asked
        self._tell = tell
        self._here = _Here()

    def ran(self, graph: str) -> None:
        """A compiled graph is about to run in this thread."""
        if self._here.is_inside:
            self._here.graphs = (*self._here.graphs, graph)

    def returned(self, left: Left, traced: Left | None) -> None:
        """A call of a graph `left` this behind, and Dynamo's graph `traced`; None if that did not run."""
        if not self._here.is_inside:
            return
        given = (one for one in left.inputs if isinstance(one, torch.Tensor) and one.layout is torch.strided)
        made = (self._here.made.get(memory_key(one)) for one in given)
        self._here.is_kept = self._here.is_kept or any(one is not None and not one.expired() for one in made)
        if traced is None:
            self._here.is_unknown = True
            return
        pairs = (*zip(left.inputs, traced.inputs, strict=False), *zip(left.results, traced.results, strict=False))
        tensors = [pair for pair in pairs if all(isinstance(one, torch.Tensor) for one in pair)]
        self._here.traced = (*self._here.traced, *tensors)

    def told(self, fact: Fact) -> None:
        """Something was found in this thread."""
        if isinstance(fact, NumericsCall):
            self._here.is_unknown = self._here.is_unknown or bool(fact.reason)
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
        here = self._here
        here.graphs, here.traced, here.is_wrong, here.is_unknown, here.is_kept = (), (), False, False, False
        original = getattr(compiled, ORIGINAL)
        given = arguments_of(original, args, kwargs)
        function, reason = self._eager(original, args, kwargs, given)
        here.made = function.made
        found = compiled(*args, **kwargs)
        here.made = {}
        reason = reason or (_KEEPS if here.is_kept else "")
        graph = here.graphs[0] if here.graphs else str(getattr(compiled, "__name__", "function"))
        rows: list[Checked] = []
        if not reason:
            try:
                with torch.no_grad():
                    rows = self._rows(graph, number, function, found, given)
            except Exception as error:
                let_pass(error)
                reason = _text(error)
        here.traced = ()
        for row in rows:
            self._tell(row)
        if reason:
            reason = f"the program's function: {reason}"
            self._tell(NumericsCall(graph=graph, call=number, reason=reason, against=FUNCTION))
        return found

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
    ) -> list[Checked]:
        row = Checked(graph=graph, call=number, index=-1, level=CALL, against=FUNCTION)
        compiled = dict(_leaves(found))
        pairs = _pairs(named, found)
        rows = []
        for one in function.values:
            now = one.now if one.now is not None else compiled.get(one.name)
            named_row = with_fields(row, buffer=one.name)
            if isinstance(one.plain, torch.Tensor) and one.shadowed is not None:
                said = beside(named_row, now, one.plain, functools.partial(_known, one.shadowed))
                if verdict(said) == WRONG:
                    said = with_fields(said, level=self._blamed(named_row, one, now))
                elif one.now is None and not said.reason:
                    said = _with_sharing(said, pairs, function)
                    if not said.mismatch:
                        said = with_strides(said, now, one.strides)
                    if said.mismatch and not self._here.is_wrong:
                        said = with_fields(said, level=between(FUNCTION, COMPILED))
                rows.append(said)
            elif type(now) in _EXACT:
                # No graph computes it: it comes from sizes and from what Python does.
                differs = "" if now == one.plain else f"{now!r}, not {one.plain!r}"[:_LONGEST]
                level = DYNAMO if differs and not self._here.is_wrong and not self._here.is_unknown else CALL
                rows.append(with_fields(named_row, is_equal=not differs, mismatch=differs, level=level))
        return rows

    def _blamed(self, row: Checked, value: _Value, now: Any) -> str:
        """The level that made this wrong. Dynamo, if its graph gives what the compiled function gives, and not what the
        program's does, on inputs that are right.
        """
        here = self._here
        if here.is_wrong:
            return CALL
        traced = next((one for left, one in reversed(here.traced) if _is_same(left, now)), None)
        shadowed = value.shadowed
        if not isinstance(traced, torch.Tensor) or shadowed is None or (here.is_unknown and len(here.graphs) > 1):
            return between(FUNCTION, COMPILED)
        said = verdict(beside(row, traced, value.plain, functools.partial(_known, shadowed)))
        if said == NOT_COMPARABLE:
            return between(FUNCTION, COMPILED)
        if said != WRONG:
            return between(DYNAMO_GRAPH, COMPILED)
        is_given = traced.shape == now.shape and (is_equal(now, traced) or near(row, now, traced) is not None)
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


def _is_same(one: torch.Tensor, other: Any) -> bool:
    """True if these are one tensor, or look the same at one memory."""
    if not isinstance(other, torch.Tensor) or not memory_of(one) or memory_of(one) != memory_of(other):
        return False
    return (one.shape, one.stride(), one.storage_offset()) == (other.shape, other.stride(), other.storage_offset())


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
