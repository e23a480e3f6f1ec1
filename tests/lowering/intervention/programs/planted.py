"""Compiles small programs, each as torch generates it and with mistakes in its C++ code, or on a GPU in that of
Triton, one at a time.

The code is edited as it is loaded: the files that torch writes, and the calls between them, are right. Prints a line of
JSON for each compile: the program, the mistake, the graph and the kernel that it is in, the line of the kernel's source
that was edited, and how far the results then are from those without the mistake, as a multiple of rounding.

    python planted.py PROGRAM … [--count N] [--kinds KIND …] [--device cuda]
"""

import argparse
import json
import linecache
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import triton_edits
from edits import EDITS, Fault, faults, with_fault
from networks import PROGRAMS, results
from torch import Tensor
from torch._inductor import config
from torch._inductor.async_compile import AsyncCompile

EDITS_FOR = {"cpu": EDITS, "cuda": triton_edits.EDITS}
KINDS = tuple(dict.fromkeys((*EDITS, *triton_edits.EDITS)))


class Planted:
    """Edits one kernel of those that are loaded next, and remembers all of them as they were."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.sources: list[str] = []
        self.places: list[tuple[str, str]] = []
        """Of each kernel: the number and kind of its graph, and its name."""
        cpp, triton = AsyncCompile.cpp_pybinding, AsyncCompile.triton

        def load_cpp(pool: Any, types: Any, source: str) -> Any:
            return cpp(pool, types, self._edited(source))

        def load_triton(pool: Any, name: str, source: str, *more: Any, **named: Any) -> Any:
            return triton(pool, name, self._edited(source), *more, **named)

        AsyncCompile.cpp_pybinding = load_cpp  # type: ignore[assignment, method-assign]
        AsyncCompile.triton = load_triton  # type: ignore[assignment, method-assign]

    def _edited(self, source: str) -> str:
        fault = self.fault
        edited = with_fault(source, fault) if fault is not None and fault.kernel == len(self.sources) else source
        self.sources.append(source)
        self.places.append(_place(sys._getframe(2)))
        return edited

    def plant(self, fault: Fault | None) -> None:
        self.fault, self.sources, self.places = fault, [], []


def _place(frame: FrameType | None) -> tuple[str, str]:
    """The graph, such as 3_backward, and the name that the caller gives to the kernel."""
    while frame is not None:
        path = frame.f_code.co_filename
        named = re.match(r"(\w+) = async_compile\.(?:cpp_pybinding|triton)\(", linecache.getline(path, frame.f_lineno))
        if named:
            graph = re.search(r"AOT ID: \['(\w+)'\]", Path(path).read_text("utf-8"))
            return graph[1] if graph else "", named[1]
        frame = frame.f_back
    return "", ""


def changed(found: list[Tensor], right: list[Tensor], eager: list[Tensor]) -> float:
    """The largest difference of an element from what is right, as a multiple of rounding: of the largest difference of
    what is right from eager's, at least of one unit in the last place of the root mean square.
    """
    most = 0.0
    for one, plain, other in zip(found, right, eager, strict=True):
        rounding = (plain - other).abs().nan_to_num(0.0).max().item()
        rounding = max(
            rounding, torch.finfo(plain.dtype).eps * plain.double().nan_to_num(0.0).square().mean().sqrt().item()
        )
        if bool((one.isnan() != plain.isnan()).any()) or bool((one.isinf() != plain.isinf()).any()):
            return float("inf")
        apart = (one - plain).abs().nan_to_num(0.0).max().item()
        most = max(most, apart / rounding if rounding else float("inf") if apart else 0.0)
    return most


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+", choices=PROGRAMS)
    parser.add_argument("--count", type=int, default=11, help="how many mistakes in each program")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--device", choices=EDITS_FOR, default="cpu")
    asked = parser.parse_args()
    edits = {kind: edit for kind, edit in EDITS_FOR[asked.device].items() if kind in asked.kinds}
    torch.set_default_device(asked.device)
    # With workers, torch hands a Triton kernel to them as soon as it is generated, and once more as it is loaded.
    config.compile_threads = 1
    planted = Planted()
    for program in asked.programs:
        eager = results(program, compiled=False)
        torch.compiler.reset()
        planted.plant(None)
        right = results(program, compiled=True)
        sources, graphs = planted.sources, sorted({graph for graph, _ in planted.places})
        print(json.dumps({"program": program, "fault": "none", "graphs": graphs}), flush=True)
        for fault in faults(program, sources, edits, asked.count):
            torch.compiler.reset()
            planted.plant(fault)
            row = {"program": program, "fault": fault.kind, "line": fault.line, "text": fault.text.strip()}
            row["was"] = sources[fault.kernel].split("\n")[fault.line - 1].strip()
            try:
                times = changed(results(program, compiled=True), right, eager)
            except Exception as error:
                print(json.dumps(row | {"failed": f"{type(error).__name__}: {error}"[:2000]}), flush=True)
                continue
            graph, kernel = planted.places[fault.kernel]
            graphs = sorted({each for each, _ in planted.places})
            print(json.dumps(row | {"graph": graph, "kernel": kernel, "graphs": graphs, "times": times}), flush=True)


if __name__ == "__main__":
    main()
