"""Every statement of every kernel is of FX nodes, and those are among the origins that torch knows."""

from pathlib import Path

import pytest

from inspect_compile.codegen.kernels.statement_lines import Version, lines_of
from inspect_compile.codegen.kernels.statements import is_cpp
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.running import inspected
from tests.statements import statements_missing
from tests.stored import statements_astray
from tests.witness.test_lowering import SAMPLES

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_statement_of_a_sample(dump_of: DumpOf, sample: str) -> None:
    assert statements_missing(open_dump(dump_of(sample).dump)) == []


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """The kernels of programs/statements.py, for a GPU."""
    cwd = tmp_path_factory.mktemp("forms")
    done = inspected([PROGRAMS / "statements.py", "short"], cwd, options=["--target", "sm_90"])
    assert done.returncode == 0, done.stderr
    return Dump(cwd / "dump" / "target_sm_90")


@pytest.mark.harmless
def test_every_statement_of_triton_kernels(forms: Dump) -> None:
    assert statements_missing(forms) == []
    kernels = {row.name.split("_")[1] for row in forms.rows(Kernel) if row.kind == "triton"}
    assert {"poi", "per", "red"} <= kernels


@pytest.mark.harmless
def test_a_statement_is_of_the_node_that_computes_it(forms: Dump) -> None:
    graph = forms.graphs()[0].graph
    statements = CompiledGraph(forms, graph).statements
    rows = [row for kernel in forms.rows(Kernel, graph) for row in statements.all_annotated(kernel)]
    for call, node, code in (
        ("libdevice.exp(", "exp", "y = x.exp()"),
        ("tl_math.sin(", "sin", "return y.sin() + y.sum(), y.amax(0)"),
    ):
        found = [row for row in rows if call in row.text]
        assert found
        for row in found:
            assert (row.nodes, row.operator) == ((node,), node)
            assert [where.code for where in row.lines] == [code]


@pytest.mark.harmless
def test_what_two_kernels_compute_is_told(forms: Dump) -> None:
    again, staged = 0, 0
    for graph in forms.graphs():
        statements = CompiledGraph(forms, graph.graph).statements
        for bodies in statements.bodies.values():
            for row in statements.computed(bodies[0]):
                again += row.node == "exp" and bool(row.recomputed)
                staged += row.node == "sum_1" and bool(row.staged)
    assert again
    assert staged


@pytest.mark.harmless
def test_a_kernel_computes_less_than_what_flowed_into_it(forms: Dump) -> None:
    rows = [row for row in forms.rows(Kernel) if row.kind == "triton"]
    assert all(set(row.computes) <= set(row.nodes) for row in rows)
    assert any(len(row.computes) < len(row.nodes) for row in rows)


def test_a_source_that_runs_twice_has_a_row_for_each(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("two_models").dump)
    assert {row.kernel for row in dump.rows(KernelBody)} == {row.name for row in dump.rows(Kernel) if row.kind == "cpp"}


@pytest.mark.harmless
@pytest.mark.parametrize("options", [(), ("--target", "sm_90")], ids=["cpu", "sm_90"])
def test_every_form_of_kernels(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = inspected([PROGRAMS / "statements.py", *(("gpu",) if options else ())], tmp_path, options=options)
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / ("target_sm_90" if options else ""))
    assert statements_missing(dump) == []
    assert statements_astray(dump) == []
    assert len(dump.graphs()) > 12


def test_a_store_in_a_loops_tail_is_found_as_it_was_written() -> None:
    """Torch renames the loop's variable there, and accumulators, once the statements are written."""
    vector, scalar = Version(), Version()
    vector.write("tmp1.store(out_ptr0 + static_cast<int64_t>(x1 + 97L*x0));", ("g", "relu"), "store")
    scalar.write("out_ptr0[static_cast<int64_t>(x1 + 97L*x0)] = tmp1;", ("g", "relu"), "store")
    scalar.write("out_ptr1[static_cast<int64_t>(x1)] = tmp_acc0.index;", ("g", "argmax"), "store")
    tail = ["out_ptr0[static_cast<int64_t>(x1_tail + 97L*x0)] = tmp1;"]
    tail += ["out_ptr1[static_cast<int64_t>(x1_tail)] = tmp_acc0_arr[x1_tail - static_cast<int64_t>(96L)].index;"]

    found = lines_of(["{", *tail, "}"], [vector, scalar])

    assert found.lines == [(2, "store", {("g", "relu")}), (3, "store", {("g", "argmax")})]
    assert found.unmapped == []


def test_equal_lines_of_one_body_are_of_who_wrote_them_one_after_the_other() -> None:
    """Two stores of one loop with the same inner lines, and a load that was written between them but stands first."""
    body = Version()
    loads, stores = 0, 2
    for node, section in (("put", stores), ("get", loads), ("put_1", stores)):
        body.write("__at_align__ std::array<int64_t, 16> tmpbuf;", ("g", node), "store", section)
    source = ["__at_align__ std::array<int64_t, 16> tmpbuf;"] * 3
    placed = dict.fromkeys((1, 2, 3), (body,))

    found = lines_of(source, [body], (), placed)
    other = lines_of(source[:2], [body], (), placed)

    assert [whose for _, _, whose in found.lines] == [{("g", "get")}, {("g", "put")}, {("g", "put_1")}]
    assert [len(whose) for _, _, whose in other.lines] == [3, 3]  # one of them was dropped, which one is not known


def test_only_the_buffers_of_a_cpp_kernel_are_told_apart() -> None:
    from torch._inductor.codegen.cpp import CppKernel, CppVecKernel
    from torch._inductor.codegen.triton import TritonKernel

    made = {kind: object.__new__(kind) for kind in (CppKernel, CppVecKernel, TritonKernel)}
    assert {kind.__name__ for kind, kernel in made.items() if is_cpp(kernel)} == {"CppKernel", "CppVecKernel"}
