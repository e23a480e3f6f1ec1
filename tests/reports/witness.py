"""What the programs of public reports do in the installed torch: each function as it is, and compiled.

`witness.py PROGRAM …` runs the `step` of each program on its `inputs()`, both ways, in one process. For each it writes
a JSON object: its name, what differs, and the error of each way that did not come to its end. A program's `inputs`
gives the arguments of one call, or a list with those of several; its `OPTIONS` are those of `torch.compile`, and its
`around` gives what each call is made in.
"""

import importlib.util
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

ERROR = "error"
NUMBER, RESULT, INPUT, GRADIENT = "number of results", "result", "changed input", "gradient"
SHAPE, DTYPE, STRIDES, FINITE, SHARING = "shape", "dtype", "strides", "finite or not", "sharing"
RELATIVE = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-4, torch.float64: 1e-9}
"""Of the largest element: where rounding ends. No program here is near to it."""

Left = list[tuple[str, Any]]
"""What a call leaves behind: what it is, and its value."""


def leaves(values: Any) -> Iterator[Any]:
    """All values in nested containers, modules as their parameters, buffers and other tensors."""
    for one in tree_leaves(values):
        if isinstance(one, torch.nn.Module):
            yield from one.parameters()
            yield from one.buffers()
            for part in one.modules():
                yield from (value for value in vars(part).values() if isinstance(value, Tensor))
        else:
            yield one


def shared(values: Sequence[Any]) -> list[int]:
    """For each value the number of its storage, in the order of the first that has it; -1 for what has none."""
    seen: dict[int, int] = {}
    return [
        seen.setdefault(one.untyped_storage()._cdata, len(seen)) if isinstance(one, Tensor) and one.numel() else -1
        for one in values
    ]


def left_behind(
    function: Callable[..., Any], calls: Sequence[Sequence[Any]], around: Callable[[], AbstractContextManager[Any]]
) -> Left:
    """All that the calls leave behind, gradients of a backward from all results among it."""
    found: Left = []
    for arguments in calls:
        torch.manual_seed(0)
        with around():
            results = list(leaves(function(*arguments)))
        given = list(leaves(arguments))
        to_train = [one for one in results if isinstance(one, Tensor) and one.requires_grad]
        if to_train:
            torch.autograd.backward(to_train, [torch.ones_like(one) for one in to_train])
        found.append((NUMBER, len(results)))
        found += [(RESULT, one) for one in results]
        found += [(INPUT, one) for one in given]
        found += [(GRADIENT, one.grad) for one in given if isinstance(one, Tensor) and one.is_leaf]
        found.append((SHARING, shared([*results, *given])))
    return found


def numbers(one: Tensor) -> Tensor:
    """As float64, complex ones as pairs."""
    return (torch.view_as_real(one.resolve_conj()) if one.is_complex() else one).detach().double()


def difference(what: str, one: Any, other: Any) -> str:
    """What differs in two values, in a word; empty if nothing does but rounding."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return "" if one == other else what
    if one.shape != other.shape:
        return SHAPE
    if one.dtype != other.dtype:
        return DTYPE
    if one.numel() and moving(one) != moving(other):
        return STRIDES
    if not (one.is_floating_point() or one.is_complex()):
        return "" if torch.equal(one, other) else what
    relative = RELATIVE.get(one.real.dtype, 1e-1)
    one, other = numbers(one), numbers(other)
    finite = one.isfinite()
    odd, other_odd = (values[~finite].nan_to_num() for values in (one, other))
    if not torch.equal(finite, other.isfinite()) or not torch.equal(odd, other_odd):
        return FINITE
    if not finite.any():
        return ""
    apart, largest = (one[finite] - other[finite]).abs().max(), one[finite].abs().max()
    return what if apart > relative * largest else ""


def moving(one: Tensor) -> list[int]:
    """The strides of the dimensions in which there is a second element."""
    return [stride for stride, size in zip(one.stride(), one.shape, strict=True) if size > 1]


def module(program: Path) -> Any:
    """The program as a module: Dynamo looks its globals up by its name."""
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[program.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def seen(program: Path) -> dict[str, Any]:
    """What differs in one program, sorted, and the errors."""
    torch._dynamo.reset()
    found = module(program)
    step, inputs, options = found.step, found.inputs, getattr(found, "OPTIONS", {})
    ways: dict[str, Left] = {}
    errors: dict[str, str] = {}
    for way, function in (("eager", step), ("compiled", torch.compile(step, **options))):
        torch.manual_seed(0)
        given = inputs()
        try:
            calls = given if isinstance(given, list) else [given]
            ways[way] = left_behind(function, calls, getattr(found, "around", nullcontext))
        except Exception as error:
            errors[way] = f"{type(error).__name__}: {error}".splitlines()[0]
    if errors:
        return {"program": program.stem, "differs": [ERROR], **errors}
    pairs = zip(ways["eager"], ways["compiled"], strict=True)
    differs = {difference(what, one, other) for (what, one), (_, other) in pairs} - {""}
    return {"program": program.stem, "differs": sorted(differs)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        sys.stdout.write(json.dumps(seen(Path(name))) + "\n")
        sys.stdout.flush()
