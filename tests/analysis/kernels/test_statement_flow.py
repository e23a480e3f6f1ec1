"""What a statement of a kernel reads of others, against a reader of its own for each language."""

import ast
import re
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.kernels.statement_flow import STORE, Flow, flow
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.statements import Annotated
from tests.conftest import TESTS
from tests.stored import stored

INDEX = "an index"


def kernels(dump: Dump) -> list[tuple[Flow, str]]:
    """The flow and the source of each kernel whose statements were recorded."""
    found = []
    for kernel in {(row.graph, row.name): row for row in dump.rows(Kernel) if row.source}.values():
        rows = CompiledGraph(dump, kernel.graph).statements.all_annotated(kernel)
        source = dump.text(kernel.graph, kernel.source)
        if rows and source:
            found.append((flow(rows, source), source))
    return found


def reached(found: Flow) -> list[set[str]]:
    """For each statement the pointers that its value is stored through, without a way through memory."""
    into: list[set[int]] = [set() for _ in found.steps]
    for place, step in enumerate(found.steps):
        for read in step.reads:
            if not read.is_memory:
                into[read.step].add(place)
    result = []
    for place in range(len(found.steps)):
        seen, ahead = {place}, [place]
        while ahead:
            new = into[ahead.pop()] - seen
            seen |= new
            ahead += new
        result.append({name for at in seen if found.steps[at].role == STORE for name in found.steps[at].pointers})
    return result


@pytest.mark.parametrize("name", ["mixed", "walks"])
def test_values_get_out_as_another_reader_says(name: str) -> None:
    """`tests/stored.py` reads the same sources in its own way: through which pointers each value leaves the kernel."""
    checked = 0
    for found, source in kernels(open_dump(TESTS / "data" / "tui" / name)):
        aliases = dict(re.findall(r"auto (\w+_ptr\d+) = (\w+_ptr\d+);", source))
        told = stored(source)
        for step, mine in zip(found.steps, reached(found), strict=True):
            theirs = {aliases.get(one, one) for one in told.get(step.row.line, set())}
            if step.role == STORE or not theirs:
                continue
            checked += 1
            assert mine <= theirs or INDEX in theirs, step.row
            if mine:
                assert theirs - {INDEX} <= mine, step.row
            else:  # the first value of a sum, which is replaced before anything reads it: the other reader keeps it
                assert not step.pointers, step.row
                assert not step.reads or "_ptr" not in step.row.text, step.row
    assert checked > 20


def test_no_statement_reads_a_later_one_but_around_a_loop() -> None:
    for found, _ in kernels(open_dump(TESTS / "data" / "tui" / "mixed")):
        for place, step in enumerate(found.steps):
            assert all(read.step < place for read in step.reads)
            assert all(loop < len(found.loops) for loop in step.loops)


TRITON = """\
@triton.jit
def triton_red_fused_0(in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
    x0 = xindex
    _tmp4 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_1 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), r0_mask & xmask, other=0.0)
        tmp1 = tmp0 * tmp0
        tmp2 = tl.broadcast_to(tmp1, [XBLOCK, R0_BLOCK])
        tmp5 = _tmp4 + tmp2
        _tmp4 = tl.where(r0_mask & xmask, tmp5, _tmp4)
    tmp4 = tl.sum(_tmp4, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp4, xmask)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_1 = r0_index
        tmp6 = tl.load(in_ptr0 + (r0_1 + 64*x0), r0_mask & xmask, other=0.0)
        tmp7 = tl.load(out_ptr0 + (x0), xmask)
        tmp8 = tmp6 / tmp4
        tmp9 = tmp8 + tmp7
        tl.store(out_ptr1 + (r0_1 + 64*x0), tmp9, r0_mask & xmask)
"""


def annotated(source: str, stores: tuple[str, ...], skipped: tuple[str, ...] = ()) -> list[Annotated]:
    """Every line that assigns a variable or stores, as if torch had told its node."""
    rows = []
    for number, text in enumerate(source.splitlines(), 1):
        line = text.strip()
        is_store = line.startswith(stores) or ".store(" in line
        if ("tmp" in line and "=" in line.partition("(")[0]) or is_store:
            operator = "store" if is_store else "load" if "load" in line else "add"
            if line not in skipped:
                rows.append(Annotated("g", "k", number, line, operator, (f"n{number}",), (), ()))
    return rows


def test_triton_against_python_s_own_parser() -> None:
    """Python's parser tells the same reads: of each name the assignment before it, and none in another loop's body."""
    found = flow(annotated(TRITON, ("tl.store",)), TRITON)
    by_line = {step.row.line: step for step in found.steps}
    made: dict[str, int] = {}
    checked = 0
    for node in ast.walk(ast.parse(TRITON)):
        if not isinstance(node, ast.FunctionDef):
            continue
        statements = [one for one in ast.walk(node) if isinstance(one, ast.Assign | ast.Expr)]
        for one in sorted(statements, key=lambda one: one.lineno):
            value = one.value
            names = {name.id for name in ast.walk(value) if isinstance(name, ast.Name) and "tmp" in name.id}
            if one.lineno in by_line:
                step = by_line[one.lineno]
                reads = {(found.steps[read.step].row.line, read.by) for read in step.reads if not read.is_memory}
                assert reads == {(made[name], name) for name in names}
                checked += 1
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
                made[one.targets[0].id] = one.lineno
    assert checked == len(found.steps) == 13
    through_memory = [(step.row.line, read.by) for step in found.steps for read in step.reads if read.is_memory]
    assert through_memory == [(17, "out_ptr0")]
    assert found.loops == ("r0_offset in tl.range(0, r0_numel, R0_BLOCK)",) * 2
    assert [by_line[line].loops for line in (4, 8, 12, 19)] == [(), (0,), (), (1,)]


CPP = """\
extern "C"  void  kernel(float* in_out_ptr0, const float* in_ptr0, float* out_ptr1)
{
    auto out_ptr0 = in_out_ptr0;
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(70L); x0+=static_cast<int64_t>(16L))
    {
        if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(64L)))
        {
            auto tmp0 = load(in_ptr0 + x0);
            auto tmp1 = tmp0 + tmp0;
            tmp1.store(out_ptr0 + x0);
        }
        if(C10_UNLIKELY(x0 >= static_cast<int64_t>(64L) && x0 < static_cast<int64_t>(70L)))
        {
            auto tmp0 = load(in_ptr0 + x0, 6);
            auto tmp1 = tmp0 + tmp0;
            tmp1.store(out_ptr0 + x0, 6);
        }
    }
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(70L); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = load(in_out_ptr0[x0]);
        auto tmp2 = [&]
        {
            auto tmp1 = tmp0 * tmp0;
            return tmp1;
        };
        auto tmp3 = tmp0 > 0 ? tmp2() : "{ tmp9";
        tmp3.store(out_ptr1 + x0);
    }
}
"""


def test_cpp_blocks_lambdas_and_the_last_vector() -> None:
    rows = annotated(CPP, ("out_ptr",))
    rows = [msgspec.structs.replace(row, nodes=("n",)) for row in rows]
    found = flow(rows, CPP)
    lines = [step.row.line for step in found.steps]
    assert lines == [8, 9, 10, 21, 22, 24, 27, 28]
    assert found.tails == 3
    assert found.loops == ("x0 < 70", "x0 < 70")
    reads = {
        step.row.line: sorted((found.steps[read.step].row.line, read.by) for read in step.reads) for step in found.steps
    }
    assert reads == {
        8: [],
        9: [(8, "tmp0")],
        10: [(9, "tmp1")],
        21: [(10, "in_out_ptr0")],
        22: [(24, "tmp1")],
        24: [(21, "tmp0")],
        27: [(21, "tmp0"), (22, "tmp2")],
        28: [(27, "tmp3")],
    }


def test_a_value_of_an_unknown_statement_is_passed_on() -> None:
    rows = annotated(TRITON, ("tl.store",), ("tmp1 = tmp0 * tmp0",))
    found = flow(rows, TRITON)
    step = next(one for one in found.steps if one.row.line == 9)
    assert [found.steps[read.step].row.line for read in step.reads] == [7]


@pytest.mark.parametrize("text", ["}" * 50, "{" * 50, "@triton\n" + "  for x in y:\n" * 9, 'auto tmp0 = "\\', ""])
def test_damaged_sources(tmp_path: Path, text: str) -> None:
    rows = [Annotated("g", "k", number, "tmp0 = tmp1", "add", (), (), ()) for number in range(1, 4)]
    found = flow(rows, text + "\ntmp0 = tmp1\n}\ntmp1 = tmp0\n")
    assert len(found.steps) <= 3
