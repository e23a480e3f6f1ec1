"""Each statement of a kernel beside its node, in the app."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import KernelBody, Location, StatementNodes
from inspect_compile.tui.app import InspectApp
from tests.handmade import FILE, GRAPH, ended, graph, kernel, made, node
from tests.tui.driving import go_to, lines, marked, press, said, settled
from tests.tui.test_snapshots import MEDIUM, Compare, after, pytestmark

SOURCE = """@triton.jit
def triton_poi_fused_add_relu_0(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp0 + tmp1
    tmp3 = triton_helpers.maximum(tl.full([1], 0, tl.int32), tmp2)
    tl.store(out_ptr0 + (x0), tmp3, xmask)
"""
NAMES = ("triton_poi_fused_add_relu_0", "triton_poi_fused_add_sin_1")


@pytest.fixture
def dump(here: Path) -> Dump:
    """Two kernels, which both compute `add`."""
    nodes = ("add", "a_relu_with_a_long_name", "sin")
    mapped = ((4, 0, (0,)), (5, 0, (0, 1)), (6, 1, (0,)), (7, 2, (1,)), (8, 3, (1,)))
    found = made(
        here / "d",
        graph(),
        ended(),
        *(
            node(name, f"aten.{name}", index=index, where=Location(FILE, 12 + index, "forward", f"{name}(…)"))
            for index, name in enumerate(nodes)
        ),
        *(
            kernel(name, kind="triton", nodes=nodes, source=f"kernels/{name}/source.py", launches=(7 + index,))
            for index, name in enumerate(NAMES)
        ),
        KernelBody(
            graph=GRAPH,
            kernel=NAMES[0],
            operations=("op0",),
            nodes=nodes[:2],
            loops=((0,), (1,)),
            operators=("load", "add", "maximum", "store"),
            statements=tuple(StatementNodes(*row) for row in mapped),
        ),
        KernelBody(graph=GRAPH, kernel=NAMES[1], operations=("op1",), nodes=("add", "sin"), loops=((0,), (2,))),
    )
    for name in NAMES:
        place = found.folder(GRAPH) / "kernels" / name
        place.mkdir(parents=True)
        (place / "source.py").write_text(SOURCE)
    return Dump(Path("d"))


async def test_a_statement_selects_its_node(dump: Dump) -> None:
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6")
        detail = lines(pilot, "kernels-detail")
        sheet = detail.sheet
        told = ["".join(span.text for span in [*sheet.fixed(i), *sheet.spans(i, 100)]) for i in range(len(sheet))]
        assert any("add a_relu_with_a_long_name (2 of 3 origins)" in line for line in told)
        assert f"add: computed again in {NAMES[1]}" in told
        assert ["6", "add", "12", "tmp2", "=", "tmp0", "+", "tmp1"] in [line.split() for line in told]
        assert any(line.split()[:6] == ["5", "add", "+1", "12", "tmp1", "="] for line in told)
        detail.focus()
        go_to(pilot, "kernels-detail", "    tmp3 = triton_helpers")
        await settled(pilot)
        assert said(pilot, "context").startswith(" a_relu_with_a_long_name")
        assert [sheet.key(i) for i in range(len(sheet)) if detail.is_marked(i)] == ["7", "8"]
        await press(pilot, "2")
        assert marked(pilot, "fx") == ["a_relu_with_a_long_name"]


def test_annotated(dump: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(dump), terminal_size=MEDIUM, run_before=after("6"))


__all__ = ["pytestmark"]
