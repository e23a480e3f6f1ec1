"""The reference's results in the place of the compiled code's, in the memory layout that this gives them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, same_memory, unseen


class Form(NamedTuple):
    """A result of the compiled code without its values."""

    kind: type | torch.dtype
    """The dtype of a tensor; of anything else its type."""
    size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    is_input: int | None = None
    """The position of the input that it is."""
    shares: frozenset[int] = frozenset()
    """The inputs, and the results before it, whose memory it has: positions in both, one after the other."""


class Continued:
    """Makes calls of a graph node by node that change inputs and return results as the compiled code does."""

    def __init__(
        self, module: torch.fx.GraphModule, forms: Sequence[Form], draws: philox.Form | None, obstacle: str
    ) -> None:
        self._module = module
        self._draws = draws
        self._forms = forms
        self.obstacle = obstacle
        """Why that is not possible; empty if it is."""

    def call(self, args: list[Any]) -> tuple[Any, ...]:
        """Make a call. `args` is emptied, as by the compiled code."""
        with unseen(), torch.no_grad():
            seen = same_memory(args)
            made: list[Any] = []
            results = reference(self._module, seen, self._draws).results
            for value, form in zip(results, self._forms, strict=True):
                if form.is_input is not None and value is seen[form.is_input]:
                    made.append(args[form.is_input])
                else:
                    made.append(in_form(value, form, [*seen, *made]))
        args.clear()
        return tuple(made)


def continued(
    module: torch.fx.GraphModule,
    call: Callable[[list[Any]], Sequence[Any]],
    args: Sequence[Any],
    plain: Reference,
    state: RandomState,
) -> Continued:
    """For calls with inputs like `args`, of which `plain` has the reference's values.

    `call` is the compiled code, which is run once more, on copies.
    """
    given = copies(args)
    state.restore()
    with torch.no_grad():
        results = list(call(list(given)))
    forms = [_form(result, given, results[:at]) for at, result in enumerate(results)]
    return Continued(module, forms, plain.draws, _obstacle(plain, forms))


def in_form(value: Any, form: Form, others: Sequence[Any]) -> Any:
    """`value`, or a copy of it if it has other strides than `form`, or memory of other values that it may not have."""
    if not isinstance(value, torch.Tensor):
        return value
    if value.layout is not torch.strided or (_sharing(value, others) <= form.shares and _has_stride(value, form)):
        return value
    made = torch.empty_strided(form.size, form.stride, dtype=value.dtype, device=value.device)
    # Elements that are at the same memory address can be written once only.
    repeated = [at for at, (size, stride) in enumerate(zip(form.size, form.stride, strict=True)) if size and not stride]
    one, other = made, value
    for at in repeated:
        one, other = one.narrow(at, 0, 1), other.narrow(at, 0, 1)
    one.copy_(other)
    return made


def _form(result: Any, given: Sequence[Any], earlier: Sequence[Any]) -> Form:
    if not isinstance(result, torch.Tensor):
        return Form(type(result))
    if result.layout is not torch.strided:
        return Form(result.dtype, tuple(result.shape))
    return Form(
        result.dtype,
        tuple(result.shape),
        result.stride(),
        next((at for at, one in enumerate(given) if one is result), None),
        _sharing(result, [*given, *earlier]),
    )


def _obstacle(plain: Reference, forms: Sequence[Form]) -> str:
    if plain.unknown:
        return next(iter(plain.unknown.values()))
    if len(plain.results) != len(forms):
        return f"the compiled code has {len(forms)} results, the graph {len(plain.results)}"
    for at, (value, form) in enumerate(zip(plain.results, forms, strict=True)):
        is_tensor = isinstance(value, torch.Tensor)
        if (value.dtype if is_tensor else type(value)) != form.kind or (is_tensor and value.shape != form.size):
            return f"result {at} of the compiled code has another type or size than that of the graph"
    return ""


def _sharing(value: torch.Tensor, others: Iterable[Any]) -> frozenset[int]:
    memory = _memory(value)
    return frozenset(at for at, one in enumerate(others) if memory and _memory(one) == memory)


def _memory(value: Any) -> int:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return 0
    return value.untyped_storage().data_ptr()


def _has_stride(value: torch.Tensor, form: Form) -> bool:
    return all(
        size < 2 or one == other for size, one, other in zip(form.size, value.stride(), form.stride, strict=True)
    )
