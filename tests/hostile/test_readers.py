"""What reads the texts of a dump and of other tools, on real ones with faults in them: no exception, no long wait."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspect_compile.analysis.kernels import debug_lines, instructions, triton_heuristics
from inspect_compile.analysis.lookup import kernel_symbols
from inspect_compile.analysis.lowering import ir_text
from inspect_compile.graph.kernels import triton_ir
from inspect_compile.profiles.read import read
from inspect_compile.share import encodings
from inspect_compile.share.source_lines import SourceLines
from inspect_compile.tui.terminal import Terminal
from tests.hostile.test_fuzz import LONG, SHORT

DATA: Final = Path(__file__).parents[1] / "data"
STAGES: Final = DATA / "stages"
FAULTS: Final = ("cut", "drop", "twice", "swap", "digits", "noise", "long")
NOISE: Final = (
    "\0",
    "\x1b]",
    "é",
    "{",
    "}",
    "(",
    '"',
    "%",
    "!",
    "@",
    "99999999999999999999",
    "-1",
    "\r",
    "\u2028",
    "loc(",
)

_LONGEST: Final = 100_000
"""Characters of a line that became long: several times over it would take all memory."""

Reader = Callable[[str], object]


def _of(suffix: str) -> list[str]:
    return [path.read_text() for path in sorted(STAGES.rglob(f"*.{suffix}"))]


def _machine(text: str) -> object:
    ptx = _of("ptx")[0]
    return debug_lines.machine_lines(text, debug_lines.assembly_lines(ptx), {})


def _in_order(text: str) -> object:
    (assembly,) = _of("amdgcn")
    return debug_lines.machine_lines_in_order(text, assembly, debug_lines.assembly_lines(assembly))


def _counted(name: str) -> Reader:
    return lambda text: instructions.count_instructions(name, text)


IR: Final = "".join(path.read_text() for path in sorted((DATA.parent / "golden").rglob("ir_*_fusion*.txt")))[:20_000]
SOURCE: Final = (STAGES / "source.txt").read_text()
LISTING: Final = (
    "0000000000000000 <kernel>:\nkernel():\n<stdin>:3\n   0:\tpush   %rbp\n<stdin>:4 (discriminator 2)\n   1:\tret\n"
)

READERS: dict[str, tuple[Reader, list[str]]] = {
    "ttir": (debug_lines.mlir_lines, _of("ttir")),
    "ttgir": (debug_lines.mlir_lines, _of("ttgir")),
    "llir": (debug_lines.llvm_lines, _of("llir")),
    "ptx": (debug_lines.assembly_lines, _of("ptx")),
    "amdgcn": (debug_lines.assembly_lines, _of("amdgcn")),
    "sass": (_machine, _of("sass")),
    "isa": (_in_order, _of("isa")),
    "objdump": (lambda text: debug_lines.objdump_lines(text, "<stdin>"), [LISTING]),
    **{
        f"instructions of {name}": (_counted(name), _of(name))
        for name in ("ttir", "llir", "ptx", "sass", "amdgcn", "isa")
    },
    "work of ttir": (triton_ir.program_work, _of("ttir")),
    "heuristics": (triton_heuristics.heuristics, [SOURCE]),
    "signature": (kernel_symbols.of_source, [SOURCE]),
    "name": (kernel_symbols.decode, ["triton__0d1d2d3de4c", "kernel_0d1d"]),
    "symbols": (kernel_symbols.parameters, ["at::native::f<int, float (*)(int)>(int, std::vector<float> const&)"]),
    "IR": (lambda text: ir_text.fold(text, set()), [IR or "ComputedBuffer(name='buf0')"]),
    "brief IR": (ir_text.brief, [IR or "ComputedBuffer(name='buf0')"]),
    "terminal": (
        lambda text: Terminal().feed(text.encode()),
        ["a\x1b[1;31mred\x1b[0m\r\n\x1b]0;title\x07b\x1b[2K\x1b[5A"],
    ),
    "source lines": (lambda text: SourceLines().text(text), ['  File "a.py", line 3\n    x = 1  # y  # a.py:3 in f\n']),
    "encodings": (encodings.hidden, _of("ptx")),
}


def faulty(text: str, seed: int, number: int) -> str:
    """`text` with `number` faults."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(number):
        at, kind = chance.randrange(len(lines)), chance.choice(FAULTS)
        line = lines[at]
        where = chance.randrange(len(line) + 1)
        match kind:
            case "cut":
                lines[at] = line[:where]
            case "drop" if len(lines) > 1:
                del lines[at]
            case "twice":
                lines.insert(at, line)
            case "swap":
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], line
            case "digits":
                lines[at] = "".join(
                    chance.choice(("9" * 30, "0", "-1")) if letter.isdigit() else letter for letter in line[:200]
                )
            case "noise":
                lines[at] = line[:where] + chance.choice(NOISE) + line[where:]
            case _:
                lines[at] = (line * 50)[:_LONGEST]
    return "\n".join(lines)


def check(name: str, seed: int, number: int) -> None:
    reader, texts = READERS[name]
    reader(faulty(texts[seed % len(texts)], seed, number))


SEEDS: Final = st.tuples(st.integers(0, 1 << 30), st.integers(1, 12))


@pytest.mark.parametrize("name", READERS)
def test_texts_with_faults(name: str) -> None:
    settings(SHORT, max_examples=12)(given(SEEDS)(lambda seeds: check(name, *seeds)))()


@pytest.mark.harmless
@pytest.mark.parametrize("name", READERS)
def test_many_more(name: str) -> None:
    settings(LONG, max_examples=150)(given(SEEDS)(lambda seeds: check(name, *seeds)))()


@pytest.mark.harmless
@pytest.mark.parametrize("name", READERS)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    reader, texts = READERS[name]
    text = texts[0][:40_000]

    def seconds(times: int) -> float:
        start = time.process_time()
        reader(text * times)
        return time.process_time() - start

    count = max(1, 40_000 // max(1, len(text)))
    for _ in range(3):  # a busy machine may be slow once
        once, twice = seconds(count), seconds(2 * count)
        if twice <= max(2.5 * once, 0.05):
            return
    pytest.fail(f"{once:.3f} s, then {twice:.3f} s")


PROFILES: Final = {
    "trace.json": json.dumps(
        {
            "traceEvents": [
                {"ph": "X", "cat": "kernel", "name": f"triton_{number}", "ts": number * 10.5, "dur": 2, "tid": 7}
                | {"pid": 0, "args": {"stream": 7, "correlation": number, "device": 0}}
                for number in range(40)
            ]
        },
        indent=0,
    ),
    "ncu.csv": '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
    + '"0","triton_poi_fused_0","Duration","us","3.2"\n' * 20,
    "nsys.csv": "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Device,Strm,Name\n"
    + "1,2,3,4,5,6,NVIDIA H200 (0),7,triton_poi_fused_0\n" * 20,
}


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_with_faults(name: str, tmp_path: Path) -> None:
    """Refused with a ValueError, which `attribute` tells in one line, or read."""
    path = tmp_path / name

    def look(seeds: tuple[int, int]) -> None:
        path.write_text(faulty(PROFILES[name], *seeds), encoding="utf-8", errors="replace")
        try:
            read(path)
        except ValueError:
            return

    settings(SHORT, max_examples=60)(given(SEEDS)(look))()
