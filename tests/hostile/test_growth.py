"""What reads the texts of others, on long ones made to be slow: twice the text takes at most 2.5 times as long."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.compare import content
from inspect_compile.analysis.compare.causes import texts
from inspect_compile.analysis.frontend import frames
from inspect_compile.analysis.kernels import debug_lines, instructions, statement_flow, triton_heuristics
from inspect_compile.analysis.lookup import kernel_symbols
from inspect_compile.analysis.lowering import ir_text
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.graph.kernels import triton_ir
from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.knowledge.fusion import reasons
from inspect_compile.knowledge.kernels import library_kernels, parameters, statement_forms
from inspect_compile.profiles.read import read
from inspect_compile.share import encodings
from inspect_compile.share.source_lines import SourceLines
from inspect_compile.tables.text import clean
from inspect_compile.tui.terminal import Terminal
from tests.handmade import ended, graph, made

Reader = Callable[[str], object]

DOUBLED: Final = 2.5
NOTHING: Final = 0.01
"""Seconds of CPU time that say nothing yet."""
ENOUGH: Final = 0.5
LONGEST: Final = 1 << 21
"""Repetitions up to which a text is made longer."""


def _fed(size: int) -> Reader:
    """A terminal that gets its text in pieces."""

    def feed(text: str) -> None:
        terminal, data = Terminal(), text.encode()
        for at in range(0, len(data), size):
            terminal.feed(data[at : at + size])

    return feed


def _each(reader: Reader) -> Reader:
    return lambda text: [reader(line) for line in text.splitlines()]


def _counted(stage: str) -> Reader:
    return lambda text: instructions.count_instructions(stage, text)


def _rows(text: str) -> list[Annotated]:
    return [
        Annotated("g", "k", number, line, "load", ("n",), (), ()) for number, line in enumerate(text.splitlines(), 1)
    ]


def _flow(text: str) -> object:
    return statement_flow.flow(_rows(text), text)


def _flow_of_triton(text: str) -> object:
    return statement_flow.flow(_rows(text), f"@triton.jit\n{text}")


def _machine(text: str) -> object:
    return debug_lines.machine_lines(text, [], {})


TEXTS: Final[dict[str, tuple[Reader, tuple[str, ...]]]] = {
    "names of old Triton": (kernel_symbols.decode, ("kernel_0d1d", "_0", "0d", "d")),
    "triton_meta": (kernel_symbols.of_source, ("triton_meta={", "}", "a(", "    triton_meta={'a': b(c(\n")),
    "C++ symbols": (kernel_symbols.parameters, ("kernel(", "kernel (a, ", "kernel ", "*&")),
    "identifiers": (kernel_symbols.identifiers, ("_Z3", "_Z", "9", "a(")),
    "C++ and Triton statements": (statement_forms.assigned, ("tmp0, ", "auto tmp0 = ", " ", "=")),
    "parameters of kernels": (parameters.pointers_of, ("def a(", "in_ptr0, ", 'extern "C" void kernel(', "\n")),
    "what statements read": (
        _flow,
        (
            "auto tmp0 = tmp1;\n",
            "{",
            "}",
            "for(int64_t x0=0; x0<1; x0+=1)\n",
            "auto tmp0 =\n[&]\n{\nreturn tmp1;\n",
            "tmp0.store(",
            'auto tmp0 = "\\',
            "alignas(",
            "at::vec::Vectorized<",
            "cascade_helper0, &",
            "transpose_mxn<tmp0, ",
            "tmp0[",
        ),
    ),
    "what statements of Triton read": (_flow_of_triton, ("tmp0 = tmp1\n", "for x in y:\n ", " ", "tl.store(", "\t\n")),
    "stores": (
        _each(statement_forms.is_statement),
        ("out_ptr0[", "out_ptr0[0] ", "atomic_add<", "atomic_add(\n", "S.store("),
    ),
    "MLIR": (
        debug_lines.mlir_lines,
        ('#loc1 = loc("', " loc(callsite(", '"\\"', "}\n", "{\n", " loc(#loc1)\n", "fused[", "\n "),
    ),
    "LLVM": (debug_lines.llvm_lines, ("!1 = !DILocation(", "a: ", 'a: "\\"', "!dbg !", "!1 = !DIFile(a: 1)\n")),
    "assembly": (
        debug_lines.assembly_lines,
        ('.file 1 "', ".loc 1 ", "@[ a:1:", "inlined_at 1 ", ".loc 1 1 1\n", "\t\n", "}"),
    ),
    "SASS": (_machine, ("//## File a", "//a:1", "/*0000*/ ", "/*00", "@P0 \n")),
    "objdump": (
        lambda text: debug_lines.objdump_lines(text, "a"),
        ("a:1 (", "a:", "0 <a", "inlined by a:1\n", " 0:\t\n"),
    ),
    **{
        f"instructions of {stage}": (_counted(stage), units)
        for stage, units in {
            "ttir": (" %0 = ", " a.", " a loc(", "a"),
            "llir": ("  %0 = ", "  tail ", "a"),
            "ptx": ("@%p ", "ld.", "a:", "\t"),
            "amdgcn": ("a", "v_add ", ":"),
            "sass": ("/*0000*/ @P0 ", "/*", " "),
            "isa": ("a // ", "// 00000000000", "a"),
            "asm": (" 0: ", "0: (", " "),
        }.items()
    },
    "TTIR": (triton_ir.program_work, ("tensor<1x", "%0 = tt.a ", "tt.func(%a: !", "scf.for {\n", "} {\n", "%0:1 = ")),
    "heuristics": (triton_heuristics.heuristics, ("@triton_heuristics.a(", " a : tl.constexpr = ", "\n ")),
    "IR": (
        lambda text: ir_text.fold(text, set()),
        (
            "ComputedBuffer(",
            "ComputedBuffer(\n",
            "name='a',\n",
            " layout=A(",
            "(",
            "ComputedBuffer(name='a', layout=ALayout(",
        ),
    ),
    "layouts": (ir_text.layout_text, ("Layout('a', torch.a, size=(", "size=[0], stride=[", "a")),
    "brief IR": (ir_text.brief, ("ComputedBuffer(", "name='a',\n", "A(B(")),
    "generated code": (content.own, ("_id(", "_id(a, ", "/a", "0x", "1", "cuda:")),
    "texts of kernels": (
        lambda text: [
            texts.plain(text, stage, "a") for stage in ("source", "ttir", "llir", "ptx", "amdgcn", "sass", "asm")
        ],
        (" loc(", " loc(a(", "#loc\n", "!dbg !1, ", "buf1 ", "/*0000*/", "<", " ", " \n", "a_a ", "//", ";", "L__tmp"),
    ),
    "sources of guards": (frames.plain_source, ("L['", "__import_a_dot_", "._modules['a", "G['a']")),
    "reasons": (reasons.code_of, ("{", "cannot fuse ", "{} ", "%s", "a")),
    "kernels of libraries": (library_kernels.library_of, ("cutlass", "cudnn::", "cudnn_generated", "sm80_", "a")),
    "the terminal": (
        _fed(1 << 16),
        ("\x1b]", "\x1b[", "\x1b[1;", "\x1b[5A\n", "\r", "\b", "é", "\x1bP\x1b", "\t", "\x1b[99C"),
    ),
    "the terminal, piece by piece": (_fed(50), ("\x1b]", "\x1b[1;", "a", "\x1bP", "\xc3")),
    "what is printed": (clean, ("\x1b]", "\x1b[", "\x1bP\x1b", "\u2028", "\x1b ")),
    "lines of sources": (
        lambda text: SourceLines().text(text),
        ("# File: ", '  File "', " # a", "a.py:1 in ", "\n    "),
    ),
    "encodings": (
        lambda text: list(encodings.hidden(text)),
        ("\\", "\\x4", ".b8 1, ", " ", "%4", "aG", "61", "1,", "a\\0", "\\\\x00"),
    ),
}


def check(reader: Callable[[int], Callable[[], object]], nothing: float = NOTHING) -> None:
    """`reader(n)` prepares n repetitions, and what it returns is timed; less than `nothing` seconds do not count."""

    def seconds(count: int) -> float:
        look = reader(count)
        began = time.process_time()
        look()
        return time.process_time() - began

    count = 64
    while count <= LONGEST:
        once = seconds(count)
        if once > nothing:
            twice = seconds(2 * count)
            for _ in range(3):  # a busy machine may be slow once
                if twice <= DOUBLED * once:
                    return
                once, twice = min(once, seconds(count)), min(twice, seconds(2 * count))
            assert twice <= max(ENOUGH, DOUBLED * once), f"{count} times: {once:.3f} s, then {twice:.3f} s"
        count *= 2


CASES: Final = [(name, unit) for name, (_, units) in TEXTS.items() for unit in units]


@pytest.mark.harmless
@pytest.mark.parametrize(("name", "unit"), CASES, ids=[f"{name} {unit!r}" for name, unit in CASES])
def test_texts(name: str, unit: str) -> None:
    reader = TEXTS[name][0]

    def prepared(count: int) -> Callable[[], object]:
        text = unit * count
        return lambda: reader(text)

    check(prepared)


EVENT: Final = '{"ph": "X", "cat": "kernel", "name": "triton_", "ts": 1, "dur": 1, "args": {"stream": 7}},\n'
FILES: Final = {
    "events": ("x.json", '{"traceEvents": [', EVENT, "{}]}"),
    "a text without an end": ("x.json", '{"traceEvents": [{"name": "', "a", ""),
    "escapes": ("x.json", '{"traceEvents": [{"name": "', '\\"', '"}]}'),
    "an event without an end": ("x.json", '{"traceEvents": [', '{"a":', ""),
    "lists within lists": ("x.json", '{"traceEvents": [{"args": ', "[", ""),
    "seams that are none": ("x.json", '{"traceEvents": [{"name": "', '}, {\\"', ""),
    "no events": ("x.json", "{", '"traceEvents": ', "}"),
    "a device": ("x.json", "{", '"deviceProperties": [{', ', "traceEvents": []}'),
    "ncu": (
        "x.csv",
        '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n',
        '"0","k","Duration","us","3.2"\n',
        "",
    ),
    "a cell without an end": ("x.csv", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"', "a,", ""),
    "quotes": ("x.csv", '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n', '""', ""),
    "lines before the table": ("x.csv", "", "==PROF== a\n", '"ID","Kernel Name"\n'),
    "nsys": (
        "x.csv",
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Device,Strm,Name\n",
        "1,2,3,4,5,6,NVIDIA H200 (0),7,triton_\n",
        "",
    ),
}


@pytest.mark.harmless
@pytest.mark.parametrize("name", FILES)
def test_profiles(name: str, tmp_path: Path) -> None:
    file, before, unit, behind = FILES[name]

    def prepared(count: int) -> Callable[[], object]:
        (tmp_path / file).write_text(before + unit * count + behind)

        def look() -> None:
            try:
                read(tmp_path / file)
            except ValueError:
                return

        return look

    check(prepared)


NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count) "
KERNELS: Final = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, demangledName, deviceId, streamId, correlationId)"
RUNS: Final = NUMBERS + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT "
STRINGS: Final = "CREATE TABLE StringIds(id, value)"
EXPORTS: Final[dict[str, tuple[str, ...]]] = {
    "kernels": (KERNELS, STRINGS, f"{RUNS} i, i + 1, 1, 0, 0, i FROM n"),
    "kernels in the other order": (KERNELS, f"{RUNS} -i, 0, 1, 0, 0, i FROM n"),
    "kernels at one time": (KERNELS, f"{RUNS} 1, 2, 1, 0, 0, 1 FROM n"),
    "kernels that are texts": (KERNELS, f"{RUNS} hex(randomblob(99)), 2, 1, 0, 0, 1 FROM n"),
    "names": (KERNELS, STRINGS, f"{NUMBERS} INSERT INTO StringIds SELECT i, 'triton_' || i FROM n"),
    "names of one kernel": (KERNELS, STRINGS, f"{NUMBERS} INSERT INTO StringIds SELECT 1, 'triton_' || i FROM n"),
    "a long name": (
        KERNELS,
        STRINGS,
        "INSERT INTO StringIds VALUES(1, hex(zeroblob(:count)))",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 1, 0, 0, 1)",
    ),
    "calls": (
        KERNELS,
        STRINGS,
        "INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel_v7000')",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, nameId, globalTid, correlationId)",
        f"{NUMBERS} INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 1, 1, i % 3, i FROM n",
    ),
    "ranges within ranges": (
        KERNELS,
        "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid)",
        f"{NUMBERS} INSERT INTO NVTX_EVENTS SELECT i, 9999999 - i, 59, 'aten::mm, seq = ' || i, NULL, 1 FROM n",
    ),
    "a long range": (
        KERNELS,
        "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid)",
        "INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, replace(hex(zeroblob(:count)), '00', ', seq = 1'), NULL, 1)",
    ),
    "replays of whole graphs": (
        KERNELS,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start)",
        f"{NUMBERS} INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT i FROM n",
    ),
    "devices": (
        KERNELS,
        "CREATE TABLE TARGET_INFO_GPU(name)",
        f"{NUMBERS} INSERT INTO TARGET_INFO_GPU SELECT i FROM n",
    ),
}
"""Statements that make an export of Nsight Systems with `:count` rows."""


@pytest.mark.harmless
@pytest.mark.parametrize("name", EXPORTS)
def test_exports(name: str, tmp_path: Path) -> None:
    dump = made(tmp_path / "dump", graph(), ended())

    def prepared(count: int) -> Callable[[], object]:
        path = tmp_path / f"{count}.sqlite"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            for statement in EXPORTS[name]:
                connection.execute(statement, {"count": count} if ":count" in statement else {})
            connection.commit()

        def look() -> None:
            try:
                attribute(dump, read(path))
            except ValueError:
                return

        return look

    check(prepared)


def test_what_grows_faster_is_seen() -> None:
    with pytest.raises(AssertionError):
        check(lambda count: lambda: [None for _ in range(count) for _ in range(count)])
