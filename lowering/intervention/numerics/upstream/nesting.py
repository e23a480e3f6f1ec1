"""Higher-order operators as calls of the graphs that are nested in theirs, so that each operator inside is seen.

torch's own implementations refuse to run while a mode watches.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import torch

_Calls = Callable[..., Any]


def as_calls(target: Any) -> _Calls | None:
    """What a higher-order operator does, in plain calls; None for one that is not known, or any other operator."""
    return None if hasattr(target, "overloadpacket") else _FORMS.get(str(target))


def _cond(predicate: Any, if_true: _Calls, if_false: _Calls, operands: Sequence[Any] = ()) -> Any:
    return (if_true if _is_true(predicate) else if_false)(*operands)


def _while_loop(condition: _Calls, body: _Calls, carried: Sequence[Any], others: Sequence[Any] = ()) -> Any:
    found = tuple(one.clone() if isinstance(one, torch.Tensor) else one for one in carried)
    while _is_true(condition(*found, *others)):
        found = tuple(body(*found, *others))
    return found


def _map(function: _Calls, over: Sequence[Any], others: Sequence[Any] = ()) -> Any:
    return _stacked(function(*each, *others) for each in zip(*(one.unbind(0) for one in over), strict=True))


def _scan(function: _Calls, first: Sequence[Any], over: Sequence[Any], others: Sequence[Any] = ()) -> Any:
    carried, made = list(first), list[Sequence[Any]]()
    for each in zip(*(one.unbind(0) for one in over), strict=True):
        found = function(*carried, *each, *others)
        carried = list(found[: len(first)])
        made.append(found[len(first) :])
    return (*carried, *_stacked(made))


def _invoke_subgraph(graph: _Calls, _: Any, *operands: Any) -> Any:
    return graph(*operands)


def _stacked(rows: Iterable[Sequence[Any]]) -> list[Any]:
    return [torch.stack(column) for column in zip(*rows, strict=True)]


def _is_true(value: Any) -> bool:
    """Read past modes: which graph runs is no value that a result depends on by rounding."""
    return bool(value.detach().numpy(force=True)) if isinstance(value, torch.Tensor) else bool(value)


_FORMS: Final[dict[str, _Calls]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "map_impl": _map,
    "scan": _scan,
    "invoke_subgraph": _invoke_subgraph,
}
