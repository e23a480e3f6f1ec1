"""The app on a dump that was made of a log: what the log does not hold is not known there either."""

from pathlib import Path

import pytest

from inspect_compile.facts import Run
from inspect_compile.knowledge.origins import TORCH_TRACE
from inspect_compile.tui.app import InspectApp
from tests.handmade import GRAPH, ended, graph, kernel, made, node
from tests.tui.driving import lines, press, settled


@pytest.mark.parametrize(
    ("key", "view", "table"), [("3", "passes", "passes"), ("4", "ir", "lowering"), ("5", "fusion", "fusion"),
                               ("7", "cost", "flops"), ("8", "memory", "memory")]
)  # fmt: skip
async def test_a_view_says_what_is_not_known(key: str, view: str, table: str, tmp_path: Path) -> None:
    run = Run(status="finished", origin=TORCH_TRACE, argv=("trace.log",))
    dump = made(tmp_path, graph(), node("relu"), kernel("triton_poi_fused_relu_0"), ended(GRAPH), run=run)
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        await press(pilot, key)
        await settled(pilot)
        assert lines(pilot, f"{view}-rows").empty.startswith(f"{table}: not known, since a TORCH_TRACE log")
        await press(pilot, "6")
        await settled(pilot)
        assert "triton_poi_fused_relu_0" in lines(pilot, "kernels-rows").sheet.plain(0)
