"""The numbers of a trial: what the first compiled calls returned, and the gradients of the first optimizer steps.

The reference writes them; every other trial says how far its own are from these.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from inspect_compile.facts.trials import RESULTS, RETURNED, Distance

CALLS: Final = 8
"""How many compiled calls' results are kept."""
STEPS: Final = 2
"""How many optimizer steps' gradients are kept: rounding grows from step to step."""
BYTES: Final = 64 << 20
"""Maximum number of bytes that are kept in all."""
ELEMENTS: Final = 1 << 18
"""Of a larger tensor so many elements are kept, at even distances."""
_OF_CORRECTION: Final = 1 / 16
"""Of the error of a bias correction: what a nudge moves the results by counts 16 times."""


class Results:
    """Copies of the results, on the CPU."""

    def __init__(self, folder: str, *, is_reference: bool) -> None:
        self._file = Path(folder) / RESULTS
        self._is_reference = is_reference
        self._kept: dict[str, Any] = {}
        self._bytes = 0
        self._calls = 0
        self._steps = 0

    @property
    def count(self) -> int:
        """Number of tensors kept."""
        return len(self._kept)

    @property
    def are_kept(self) -> bool:
        """Are results still kept, or were there enough?"""
        return self._calls < CALLS

    def returned(self, result: Any) -> None:
        """A compiled call has returned this."""
        if self._calls < CALLS:
            for number, tensor in enumerate(_tensors(result)):
                self._keep(f"{RETURNED} {number} of call {self._calls}", tensor)
            self._calls += 1

    def stepping(self, optimizer: Any) -> None:
        """An optimizer is about to use the gradients."""
        if self._steps < STEPS:
            parameters = [one for group in optimizer.param_groups for one in group["params"]]
            for number, parameter in enumerate(parameters):
                if parameter.grad is not None:
                    self._keep(f"gradient {number} of step {self._steps}", parameter.grad)
            self._steps += 1

    def _keep(self, name: str, tensor: Any) -> None:
        import torch

        with torch.no_grad():
            plain = tensor.detach()
            if plain.layout != torch.strided or plain.is_quantized:
                return
            plain = plain.reshape(-1)
            sample = plain[:: max(1, -(-plain.numel() // ELEMENTS))]
            if self._bytes + sample.nbytes > BYTES:
                return
            self._kept[name] = sample.to("cpu", copy=True)
            self._bytes += sample.nbytes

    def compared(self) -> tuple[Distance, ...]:
        """How far they are from the reference's; those of the reference itself are written."""
        import torch

        if self._is_reference:
            torch.save(self._kept, self._file)
            return ()
        reference = torch.load(self._file, weights_only=True)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # half a second at most; where several runs compare at once, their threads wait long
        try:
            return tuple(
                _distance(name, reference[name], tensor) for name, tensor in self._kept.items() if name in reference
            )
        finally:
            torch.set_num_threads(threads)


def nudge(optimizer: Any, *, is_first: bool) -> None:
    """Move each of its parameters by about one rounding, up and down in turn; the first time, its learning rate, too.

    What such a change moves the results by, another order of the same arithmetic may move them by. A learning rate is
    moved by a part of what Adam's bias correction 1 - βᵗ is off by in float32, in which fused optimizers compute it on
    a GPU (ATen/native/cuda/fused_adam_utils.cuh) and others on the host in float64.
    """
    import torch

    if is_first:
        for group in optimizer.param_groups:
            if "betas" in group and isinstance(group["lr"], float):
                group["lr"] *= 1 + _OF_CORRECTION * torch.finfo(torch.float32).eps / (1 - group["betas"][1])
    with torch.no_grad():
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.is_floating_point() and type(parameter) in (torch.Tensor, torch.nn.Parameter):
                    signs = torch.arange(parameter.numel(), device=parameter.device) % 2 * 2 - 1
                    rounding = torch.finfo(parameter.dtype).eps * signs.view(parameter.shape)
                    parameter.addcmul_(parameter, rounding.to(parameter.dtype))


def _tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def _distance(name: str, expected: Any, tensor: Any) -> Distance:
    import torch

    dtype = str(expected.dtype).removeprefix("torch.")
    if (expected.dtype, expected.shape) != (tensor.dtype, tensor.shape):
        return Distance(name, dtype, math.inf)
    if torch.equal(expected.contiguous().view(torch.uint8), tensor.contiguous().view(torch.uint8)):
        return Distance(name, dtype, 0.0)
    if not (expected.is_floating_point() or expected.is_complex()):
        return Distance(name, dtype, math.inf)
    wide = torch.complex128 if expected.is_complex() else torch.float64
    a, b = expected.to(wide), tensor.to(wide)
    is_finite, others = torch.isfinite(a), torch.isfinite(b)
    if not (is_finite & others).all():
        if not torch.equal(is_finite, others) or not torch.equal(
            torch.nan_to_num(a[~is_finite]), torch.nan_to_num(b[~is_finite])
        ):
            return Distance(name, dtype, math.inf)
        a, b = a[is_finite], b[is_finite]
    if not a.numel():
        return Distance(name, dtype, 0.0)
    scale = float(a.abs().square().mean().sqrt())
    error = float((a - b).abs().max())
    return Distance(name, dtype, error / scale if scale else (math.inf if error else 0.0))
