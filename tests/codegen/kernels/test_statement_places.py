"""Loops of one kernel that use the same names: each statement is of the loop that it stands in."""

from pathlib import Path

import pytest

from inspect_compile.codegen.kernels.statement_lines import Version, lines_of
from inspect_compile.codegen.kernels.statement_places import Body, Line, block, places
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.statements import Annotated
from tests.conftest import DumpOf
from tests.running import inspected
from tests.statements import statements_missing
from tests.stored import statements_astray, stored
from tests.witness.test_lowering import SAMPLES

MIXED = Path(__file__).parents[2] / "tui" / "programs" / "mixed.py"


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "flex_attention"])  # that is a template
def test_statements_of_a_sample_are_of_what_they_are_stored_to(dump_of: DumpOf, sample: str) -> None:
    assert statements_astray(open_dump(dump_of(sample).dump)) == []


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> Dump:
    cwd = tmp_path_factory.mktemp("mixed")
    done = inspected([MIXED], cwd, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    assert done.returncode == 0, done.stderr
    return Dump(cwd / "dump")


def test_two_softmaxes_in_one_kernel_keep_their_accumulators(mixed: Dump) -> None:
    assert statements_missing(mixed) == []
    assert statements_astray(mixed) == []
    (kernel,) = (row for row in mixed.rows(Kernel) if row.kind == "cpp" and "argmax" in row.name)
    rows = CompiledGraph(mixed, kernel.graph).statements.all_annotated(kernel)
    starts = [row for row in rows if row.text.startswith(("float tmp_acc0 =", "IndexValue<float> tmp_acc0 ="))]
    assert [row.nodes for row in starts] == [("amax",), ("sum_1",), ("argmax",), ("amax_1",), ("sum_2",)]
    assert _nodes(rows, "at::vec::maximum(tmp_acc0_vec, tmp0)") == [("amax",), ("amax_1",)]


def _nodes(rows: list[Annotated], text: str) -> list[tuple[str, ...]]:
    return [row.nodes for row in rows if text in row.text]


def test_a_line_that_two_loops_wrote_is_of_the_one_it_stands_in() -> None:
    first, second = Version(), Version()
    for version, node, pointer in ((first, "amax", 0), (second, "sum_1", 1)):
        version.write("float tmp_acc0 = 0;", ("g", node), "reduction")
        version.write(f"out_ptr{pointer}[x0] = tmp_acc0;", ("g", node), "store")
        version.write("auto tmp1 = tmp0.exp();", ("g", node), "exp")
    nest = ["{", "for(…)", "{", "{", "float tmp_acc0 = 0;", "for(…)", "{", "auto tmp1 = tmp0.exp();", "}"]
    nest += ["out_ptr0[x0] = tmp_acc0;", "}", "{", "float tmp_acc0 = 0;", "for(…)", "{", "auto tmp1 = tmp0.exp();"]
    nest += ["}", "out_ptr1[x0] = tmp_acc0;", "}", "}", "}"]
    bodies = [Body(7, 8, (first,), ((7, 8, first),)), Body(15, 16, (second,), ((15, 16, second),))]
    made = block([[Line(text, text.startswith("out_ptr"))] for text in nest], bodies)

    source = ["void kernel()", "{", *(f"  {text}" for text in nest if "out_ptr0" not in text), "}"]
    found = lines_of(source, [first, second], (), places(source, [made]))

    assert [(line, nodes) for line, _, nodes in found.lines] == [
        (7, {("g", "amax")}),
        (10, {("g", "amax")}),
        (14, {("g", "sum_1")}),
        (17, {("g", "sum_1")}),
        (19, {("g", "sum_1")}),
    ]


def test_blocks_that_a_template_puts_elsewhere_are_found_and_others_are_not_guessed() -> None:
    version = Version()
    blocks = [block([[Line(text)], [Line("}")]], [Body(0, 1, (version,), ())]) for text in ("b {", "a {", "c {")]
    assert sorted(places(["a {", "}", "x", "b {", "}", "c {"], blocks)) == [1, 2, 4, 5]


def test_without_bodies_no_line_has_an_owner() -> None:
    """The hook that sees them was turned off."""
    made = block([[Line("{")], [Line("a"), Line("b")], [Line("}")]], [])

    assert [line.text for line in made.lines] == ["{", "a", "b", "}"]
    assert made.owners == [(), (), (), ()]


def test_the_witness_follows_values_block_by_block() -> None:
    source = """
    void kernel(float* out_ptr0, float* out_ptr1)
    {
        {
            float tmp_acc0 = 0;
            auto tmp0 = in_ptr0[0];
            tmp_acc0 = tmp_acc0 + tmp0;
            out_ptr0[0] = tmp_acc0;
        }
        {
            float tmp_acc0 = 0;
            auto tmp1 = [&]
            {
                auto tmp2 = in_ptr1[0];
                return tmp2;
            }
            ;
            out_ptr1[0] = tmp_acc0 + tmp1();
        }
    }
    """
    found = stored(source)
    assert {line: pointers for line, pointers in found.items() if pointers == {"out_ptr0"}}.keys() == {5, 6, 7, 8}
    assert {line: pointers for line, pointers in found.items() if pointers == {"out_ptr1"}}.keys() == {
        11,
        12,
        14,
        15,
        18,
    }
