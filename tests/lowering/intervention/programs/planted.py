"""Compiles small programs, each as torch generates it and with mistakes in its C++ code.

The code is edited as it is loaded: the files that torch writes, and the calls between them, are right. Prints a line of
JSON for each compile: the program, the mistake, which of the graph's C++ kernels it is in, and how far the result is
from eager's.

    python planted.py [PROGRAM …]
"""

import json
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch._inductor.async_compile import AsyncCompile
from torch import Tensor, nn

Edit = Callable[[str], str]


def swapped(source: str) -> str:
    return re.sub(r"(= (?:decltype\(tmp\d+\)\()?)(tmp\d+) - (tmp\d+)", r"\1\3 - \2", source)


def other_constant(source: str) -> str:
    return source.replace("0.7071067811865476", "0.7075067811865476").replace("(40.0)", "(30.0)")


def other_mask(source: str) -> str:
    return re.sub(r"(tmp\d+) <= (tmp\d+)", r"\1 < \2", source)


def no_initial_value(source: str) -> str:
    """A sum and a maximum that begin with what happens to be there."""
    found = re.sub(r"(tmp_acc\d+(?:_vec|_arr)? = (?:at::vec::Vectorized<float>\()?)0(?=\)?;)", r"\g<1>0.25", source)
    return found.replace("-std::numeric_limits<float>::infinity()", "3.0f")


def dropped_square(source: str) -> str:
    """`x * x` becomes `x`."""
    return re.sub(r"= ((?:decltype\(tmp\d+\)\()?)(tmp\d+) \* \2(\)?);", r"= \1\2\3;", source)


FAULTS: dict[str, Edit | None] = {
    "none": None,
    "constant": other_constant,
    "swapped": swapped,
    "mask": other_mask,
    "initial": no_initial_value,
    "square": dropped_square,
}


class Mlp(nn.Module):
    """GELU and layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2):
            x = x + self.down(F.gelu(self.up(self.norm(x))))
        return x


class Attention(nn.Module):
    """Causal attention, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.mT / 32**0.5
        at = torch.arange(x.shape[1])
        scores = scores.masked_fill(~(at[None] <= at[:, None]), float("-inf"))
        found: Tensor = self.out(scores.softmax(-1) @ v)
        return found


class Distances(nn.Module):
    """Distances of points, cut off."""

    def forward(self, x: Tensor) -> Tensor:
        apart = x[:, :, None] - x[:, None]
        near = (apart * apart).sum(-1)
        kept: Tensor = torch.where(near <= 40.0, near.sqrt(), 0.0)
        return kept - near.mean(-1, keepdim=True)


class Program(NamedTuple):
    """What is compiled, the size of its input, and the mistakes that are planted: name, and which of the kernels that
    it would change is changed.
    """

    make: Callable[[], nn.Module]
    size: tuple[int, ...]
    faults: tuple[tuple[str, int], ...]


PROGRAMS: dict[str, Program] = {
    "mlp": Program(
        Mlp, (4, 16, 64), (("none", 0), ("constant", 0), ("swapped", 1), ("initial", 0), ("initial", 1), ("square", 0))
    ),
    "attention": Program(Attention, (2, 24, 32), (("none", 0), ("mask", 0), ("initial", 0), ("swapped", 0))),
    "distances": Program(Distances, (2, 20, 24), (("none", 0), ("constant", 0), ("square", 0), ("initial", 0))),
}


class Planted:
    """Edits one C++ kernel of the next module that is loaded."""

    def __init__(self) -> None:
        self.edit: Edit | None = None
        self.skip = 0
        self.seen = 0
        self.where: int | None = None
        plain = AsyncCompile.cpp_pybinding

        def load(pool: Any, types: Any, source: str) -> Any:
            if self.edit is not None and self.where is None:
                edited = self.edit(source)
                if edited != source:
                    if self.skip == 0:
                        source, self.where = edited, self.seen
                    self.skip -= 1
            self.seen += 1
            return plain(pool, types, source)

        AsyncCompile.cpp_pybinding = load  # type: ignore[assignment, method-assign]

    def plant(self, edit: Edit | None, skip: int) -> None:
        self.edit, self.skip, self.seen, self.where = edit, skip, 0, None


def main() -> None:
    planted = Planted()
    for program in sys.argv[1:] or PROGRAMS:
        make, size, faults = PROGRAMS[program]
        for fault, skip in faults:
            torch.manual_seed(0)
            model, x = make().eval(), torch.randn(size)
            torch.compiler.reset()
            planted.plant(FAULTS[fault], skip)
            with torch.no_grad():
                eager, compiled = model(x), torch.compile(model)(x)
            error = (eager - compiled).abs().nan_to_num(float("inf")).max().item()
            row = {"program": program, "fault": fault, "kernel": planted.where, "error": error}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
