"""The loops of a buffer's IR, written down as the operations that they ask torch's code generators for."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import sympy
import torch

from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.inductor import FLEXIBLE_LAYOUT, OPERATIONS, VIRTUALIZED

REDUCTIONS: Final = (
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "argmax",
    "argmin",
    "dot",
    "welford_reduce",
    "welford_combine",
    "online_softmax_reduce",
)
_LOOPS: Final = ("Pointwise", "Reduction", "MultiOutputReduction", "WelfordReduction", "OnlineSoftmaxReduction")
"""Classes of IR that are a loop around one expression. A scan and a sort are more."""
_DRAWS: Final = ("load_seed", "rand", "randn", "randint64", "rand_eager")


@dataclass(frozen=True)
class Value:
    """What an operation gave, as an argument of a later one. No tuple: torch takes these for several values."""

    at: int
    """Position of the operation."""


class OpsCall(NamedTuple):
    """An operation of torch's `ops`."""

    name: str
    arguments: tuple[Any, ...]
    """Values, numbers, dtypes, names of buffers, and sympy expressions in the loops' variables."""


class Recorded(NamedTuple):
    """The loops that compute one buffer."""

    operations: tuple[OpsCall, ...]
    indirect: dict[sympy.Symbol, Value]
    """Variables of index expressions that are computed, or loaded."""
    result: Any
    """The value, or the values, that are stored or reduced."""
    ranges: tuple[tuple[sympy.Symbol, Any], ...]
    """Variable and size of the loops over what is stored."""
    reduced: tuple[tuple[sympy.Symbol, Any], ...]
    """Those of the loops over what is reduced."""
    reduction: str
    """How; empty if nothing is."""
    output: int
    """Which of the reduction's results is stored."""
    dtype: torch.dtype

    @property
    def reads(self) -> list[str]:
        """The buffers that are loaded from, each once."""
        return list(dict.fromkeys(one.arguments[0] for one in self.operations if one.name == "load"))

    @property
    def sizes(self) -> set[sympy.Symbol]:
        """Sizes that are not known before a call."""
        own = {variable for variable, _ in (*self.ranges, *self.reduced)} | self.indirect.keys()
        found: set[sympy.Symbol] = set()
        for asked in self.operations:
            for one in asked.arguments:
                found |= getattr(one, "free_symbols", set())
        for _, size in (*self.ranges, *self.reduced):
            found |= getattr(size, "free_symbols", set())
        return found - own


def recorded(lowering: Any, buffer: Any) -> Recorded | None:
    """The loops of a buffer of `lowering`, torch's GraphLowering; None if it has none, or of another form."""
    data: Any = getattr(buffer, "data", None)
    kind = str(getattr(data, "reduction_type", None) or "")
    if type(data).__name__ not in _LOOPS or (kind and kind not in REDUCTIONS):
        return None
    ranges = _variables("i", data.ranges)
    reduced = _variables("r", data.reduction_ranges) if kind else ()
    given = [[variable if size != 1 else sympy.Integer(0) for variable, size in each] for each in (ranges, reduced)]
    recorder = _recorder()
    virtualized: Any = VIRTUALIZED.load()
    try:
        with (
            virtualized.set_graph_handler(lowering),
            virtualized.set_ops_handler(recorder),
            _indexing_allowed(),
        ):
            result = data.inner_fn(*given) if kind else data.make_loader()(given[0])
    except Exception as error:
        let_pass(error)
        return None
    if any(one.name in _DRAWS for one in recorder.operations):
        return None
    return Recorded(
        tuple(recorder.operations),
        recorder.indirect,
        _unwrapped(result),
        ranges,
        reduced,
        kind,
        int(getattr(data, "output_index", 0)),
        data.dtype,
    )


def _variables(letter: str, sizes: Sequence[Any]) -> tuple[tuple[sympy.Symbol, Any], ...]:
    return tuple((sympy.Symbol(f"{letter}{at}", integer=True, nonnegative=True), size) for at, size in enumerate(sizes))


def _recorder() -> Any:
    """What torch's `ops` ask while a loop is written down."""

    class Recorder(OPERATIONS.load()):  # type: ignore[misc]
        def __init__(self) -> None:
            self.operations: list[OpsCall] = []
            self.indirect: dict[sympy.Symbol, Value] = {}

        def _default(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
            if kwargs:
                args = (*args, *kwargs.values())
            self.operations.append(OpsCall(name, tuple(map(_unwrapped, args))))
            return Value(len(self.operations) - 1)

        def masked(self, mask: Any, body: Callable[[], Any], other: Any) -> Value:
            inside = _unwrapped(body())
            return self._default("where", (mask, inside, other), {})

        def indirect_indexing(self, index: Any, size: Any, check: bool = True, wrap_neg: bool = True) -> sympy.Symbol:
            symbol = sympy.Symbol(f"indirect{len(self.indirect)}", integer=True)
            if wrap_neg:
                self.indirect[symbol] = self._default("wrapped", (index, sympy.sympify(size)), {})
            else:
                self.indirect[symbol] = self._default("identity", (index,), {})
            return symbol

        def check_bounds(self, *args: Any, **kwargs: Any) -> None:
            return

    return Recorder()


@contextlib.contextmanager
def _indexing_allowed() -> Iterator[None]:
    """Layouts that could still change when the loop was lowered may be indexed."""
    kind: Any = FLEXIBLE_LAYOUT.load()
    plain = kind.allow_indexing
    kind.allow_indexing = True
    try:
        yield
    finally:
        kind.allow_indexing = plain


def _unwrapped(value: Any) -> Any:
    """What torch's OpsValue holds."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_unwrapped, value))
    return getattr(value, "value", value) if type(value).__name__ == "OpsValue" else value
