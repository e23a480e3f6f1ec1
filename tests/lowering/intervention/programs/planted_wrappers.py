"""Compiles small programs, each as torch generates it and with mistakes in the code that calls the kernels, one at a
time.

The code is edited as its file is written; the kernels are right. Prints a line of JSON for each compile: the program,
the mistake, the graph, the line that was edited, and whether a result of the program is another one.

    python planted_wrappers.py PROGRAM … [--kinds KIND …] [--count N] [--device cuda]
"""

import argparse
import json
import re
from typing import Any

import torch
from torch import Tensor, nn
from torch._inductor import config
from torch._inductor.codecache import PyCodeCache
from wrapper_edits import EDITS, Fault, faults, with_fault


def layers(is_compiled: bool) -> list[Tensor]:
    """Inference: a kernel, a matrix product with a bias, a kernel; two results."""
    layer = nn.Linear(8, 8)

    def run(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        first = (x - y).sin()
        return (layer(first).cos() - y).softmax(-1), first

    with torch.no_grad():
        return list((torch.compile(run) if is_compiled else run)(torch.randn(8, 8), torch.randn(8, 8)))


def training(is_compiled: bool) -> list[Tensor]:
    """A forward and a backward graph."""
    weight, other = (torch.randn(8, 8, requires_grad=True) for _ in range(2))

    def run(x: Tensor) -> Tensor:
        return ((x @ weight).tanh() @ other).square().mean()

    loss = (torch.compile(run) if is_compiled else run)(torch.randn(8, 8))
    loss.backward()  # type: ignore[no-untyped-call]
    return [loss, *(one.grad for one in (weight, other) if one.grad is not None)]


def sizes(is_compiled: bool) -> list[Tensor]:
    """A size that is an argument of the kernel, and an input that is changed in place."""
    x, total = torch.randn(33), torch.zeros(33)
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(total, 0)

    def run(x: Tensor, total: Tensor) -> Tensor:
        total.add_(x.exp())
        return total * 2 - x

    return [(torch.compile(run) if is_compiled else run)(x, total), total]


PROGRAMS = {"layers": layers, "training": training, "sizes": sizes}


class Planted:
    """Edits the code of one graph of those that are written next, and remembers all of it as it was."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.sources: list[str] = []
        plain = PyCodeCache.write

        def write(source: str, *more: Any, **named: Any) -> Any:
            fault = self.fault
            if "def call(" not in source:
                return plain(source, *more, **named)
            is_here = fault is not None and fault.graph == len(self.sources)
            self.sources.append(source)
            return plain(with_fault(source, fault) if is_here and fault else source, *more, **named)

        PyCodeCache.write = write  # type: ignore[assignment, method-assign]

    def plant(self, fault: Fault | None) -> None:
        self.fault, self.sources = fault, []


def results(program: str, *, is_compiled: bool) -> list[Tensor]:
    torch.manual_seed(0)
    torch.compiler.reset()
    return [one.detach() for one in PROGRAMS[program](is_compiled)]


def is_another(found: list[Tensor], right: list[Tensor]) -> bool:
    return any(not torch.allclose(one, other, rtol=1e-3, atol=1e-4) for one, other in zip(found, right, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+", choices=PROGRAMS)
    parser.add_argument("--count", type=int, default=100, help="how many mistakes of each kind in each program")
    parser.add_argument("--kinds", nargs="+", default=list(EDITS), choices=EDITS)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    asked = parser.parse_args()
    torch.set_default_device(asked.device)
    config.compile_threads = 1
    planted = Planted()
    for program in asked.programs:
        right = results(program, is_compiled=False)
        planted.plant(None)
        row = {"program": program, "fault": "none", "is_wrong": is_another(results(program, is_compiled=True), right)}
        sources = planted.sources
        graphs = [_graph(one) for one in sources]
        print(json.dumps(row | {"graphs": graphs}), flush=True)
        counts = dict.fromkeys(asked.kinds, 0)
        for fault in faults(sources):
            if counts.get(fault.kind, asked.count) >= asked.count:
                continue
            counts[fault.kind] += 1
            planted.plant(fault)
            row = {"program": program, "fault": fault.kind, "line": fault.line, "text": fault.text.strip()}
            row["was"] = sources[fault.graph].split("\n")[fault.line - 1].strip()
            try:
                row["is_wrong"] = is_another(results(program, is_compiled=True), right)
            except Exception as error:
                row["failed"] = f"{type(error).__name__}: {error}"[:200]
            graphs = [_graph(one) for one in planted.sources]
            print(json.dumps(row | {"graph": graphs[fault.graph], "graphs": graphs}), flush=True)


def _graph(source: str) -> str:
    found = re.search(r"AOT ID: \['(\w+)'\]", source)
    return found[1] if found else ""


if __name__ == "__main__":
    main()
