"""What the fused kernels of scaled_dot_product_attention cannot compute, and what a program can change about that.

The conditions are those of aten/src/ATen/native/transformers/sdp_utils_cpp.cpp (the CPU's flash attention) and of
cuda/sdp_utils.cpp, torch 2.11 to 2.15. Of a GPU's kernels those of memory-efficient attention count, which takes more
calls than flash attention and cuDNN do.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from inspect_compile.facts import Tensor

_AXES: Final = 4
_FLOATS: Final = {
    "cpu": ("float64", "float32", "bfloat16", "float16"),
    "cuda": ("float32", "bfloat16", "float16"),
}
_STEP_BITS: Final = 128
"""Rows of a GPU's tensors are read in pieces of so many bits."""
_SINGLE_BITS: Final = 32
_HALF_BITS: Final = 16
_UNBATCHED: Final = (2, 14)
"""The first release that may take three axes as a batch of one."""


class Call(NamedTuple):
    """One call, with what the choice of its kernel depends on."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None = None
    is_mask_learnt: bool = False
    """A gradient of the mask is computed."""
    has_dropout: bool = False
    groups: bool = False
    """The program passes enable_gqa=True."""
    device: str = "cpu"
    """cpu or cuda."""
    torch: tuple[int, int] = (0, 0)
    """Major and minor number of the release; (0, 0) if it is not known."""

    @property
    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The query, key and value with their names."""
        return ("query", self.query), ("key", self.key), ("value", self.value)


class Refusal(NamedTuple):
    """Why a fused kernel cannot be used."""

    why: str
    to_do: str
    copied: tuple[Tensor, ...] = ()
    """What has to be copied for it."""
    is_free: bool = True
    """What to do leaves the results as they are, but for rounding."""


def refusals(call: Call) -> list[Refusal]:
    """Each condition that fails: a fused kernel is used once none does. Empty if it can be used."""
    return [refusal for check in _CHECKS for refusal in check(call)]


def _dropout(call: Call) -> Iterator[Refusal]:
    if call.has_dropout and call.device == "cpu":
        yield Refusal(
            "fused CPU kernels do not support dropout",
            "remove dropout_p (torch applies it in eval mode, too: pass `p if self.training else 0.0`); if"
            " training needs dropout, apply it to the result instead, which is a different regularization",
            is_free=False,
        )


def _axes(call: Call) -> Iterator[Refusal]:
    axes = {len(tensor.size) for _, tensor in call.named}
    is_batched = call.torch >= _UNBATCHED and axes == {_AXES - 1}
    if axes != {_AXES} and not is_batched:
        yield Refusal(
            f"fused kernels take {_AXES} axes (batch, heads, length, head size), not {_listed(sorted(axes))}",
            "add a heads axis to query, key and value, and remove it from the result: query.unsqueeze(1), "
            "result.squeeze(1)",
        )


def _heads(call: Call) -> Iterator[Refusal]:
    if any(len(tensor.size) < _AXES - 1 for _, tensor in call.named):
        return
    heads = [tensor.size[-3] for _, tensor in call.named]
    batches = [tensor.size[0] for _, tensor in call.named]
    if all(len(tensor.size) == _AXES for _, tensor in call.named) and len(set(batches)) > 1:
        yield Refusal(
            f"query, key and value have batches of {_listed(batches)}", "expand() them to one batch before the call"
        )
    if len(set(heads)) == 1 or (heads[1] == heads[2] == 1 and call.torch >= _UNBATCHED):
        return
    if call.groups and (call.device == "cpu" or call.torch >= _UNBATCHED):
        return
    done = "enable_gqa=True" if call.device == "cpu" else "expand() key and value to the heads of the query"
    yield Refusal(f"query, key and value have {_listed(heads)} heads", done)


def _mask(call: Call) -> Iterator[Refusal]:
    mask = call.mask
    if mask is None:
        return
    if call.device == "cpu" and call.is_mask_learnt:
        yield Refusal(
            "the mask requires a gradient, which no fused CPU kernel computes",
            "if the mask is not learned, pass mask.detach()",
            is_free=False,
        )
    if call.device == "cpu" and len(mask.size) not in (2, _AXES) and len(call.query.size) == _AXES:
        yield Refusal(
            f"the mask has {len(mask.size)} axes: fused kernels take 2 (lengths) or 4 (batch, heads, lengths)",
            "add a heads axis to the mask: mask.unsqueeze(1), of size 1 if all heads use the same mask",
        )
    has_no_batch = call.torch >= _UNBATCHED and len(call.query.size) == _AXES - 1
    if call.device == "cpu" and has_no_batch and len(mask.size) == _AXES and mask.size[0] != 1:
        yield Refusal(
            f"the mask has a batch of {mask.size[0]}, and the query has none",
            "give query, key and value the batch of the mask: query.unsqueeze(0), expanded",
        )
    if call.device != "cpu" and mask.stride and mask.stride[-1] != 1:
        yield Refusal(f"the last axis of the mask has stride {mask.stride[-1]}", "pass mask.contiguous()", (mask,))


def _head_sizes(call: Call) -> Iterator[Refusal]:
    sizes = [tensor.size[-1] for _, tensor in call.named if tensor.size]
    if call.device == "cpu":
        if len(set(sizes)) > 1:
            yield Refusal(
                f"query, key and value have head sizes of {_listed(sizes)}",
                "pad the smaller ones with zeros to one size (torch.nn.functional.pad), pass the scale of the query's"
                " own size, and cut the result",
            )
        return
    step = _STEP_BITS // (_SINGLE_BITS if call.query.dtype == "float32" else _HALF_BITS)
    if any(isinstance(size, int) and size % step for size in sizes):
        yield Refusal(
            f"head sizes of {_listed(sizes)}: fused kernels take multiples of {step} in {call.query.dtype}",
            "choose such a head size, or pad with zeros to one (torch.nn.functional.pad), pass the scale of the query's"
            " own size, and cut the result",
        )


def _rows(call: Call) -> Iterator[Refusal]:
    apart = [(name, tensor) for name, tensor in call.named if tensor.stride and tensor.stride[-1] != 1]
    if apart:
        names = [name for name, _ in apart]
        yield Refusal(
            f"the last axis of {_listed(names)} has stride {_listed([one.stride[-1] for _, one in apart])}: fused "
            "kernels take 1",
            f"pass {_listed([f'{name}.contiguous()' for name in names])}: that copy makes a fused kernel possible",
            tuple(tensor for _, tensor in apart),
        )


def _dtypes(call: Call) -> Iterator[Refusal]:
    dtypes = [tensor.dtype for _, tensor in call.named]
    if len(set(dtypes)) > 1:
        yield Refusal(f"query, key and value are {_listed(dtypes)}", "convert them to one dtype")
    elif dtypes[0] not in _FLOATS.get(call.device, ()):
        yield Refusal(
            f"no fused kernel is for {dtypes[0]}",
            "convert to float32 or half precision, which changes the results",
            is_free=False,
        )


_CHECKS: Final[tuple[Callable[[Call], Iterator[Refusal]], ...]] = (
    *(_dropout, _axes, _heads, _mask, _head_sizes, _rows, _dtypes),
)


def _listed(values: Sequence[object]) -> str:
    """Each once: `64`, `64 and 32`, `query, key and value`."""
    *first, last = dict.fromkeys(map(str, values))
    return f"{', '.join(first)} and {last}" if first else last
