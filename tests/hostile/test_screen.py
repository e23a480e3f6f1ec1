"""The terminal app on hostile dumps: every view is walked through, and what stands on the screen is only text."""

import html
import re
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Run
from inspect_compile.tui.app import InspectApp
from tests.hostile import dumps
from tests.hostile.test_shapes import SHAPES
from tests.hostile.watch import STEERS, in_time, watched
from tests.tui.driving import press, settled


async def _walked(root: Path) -> str:
    """All that is on the screen, one view after the other, the last row of each list too."""
    seen = ""
    with watched(root), in_time():
        async with InspectApp(Dump(root)).run_test(size=(150, 40)) as pilot:
            await settled(pilot)
            for keys in (*"1s", "end", *"2s", "end", "3", "end", *"4s", "end", "5", "end", *"678s", "end", *"9y"):
                await press(pilot, keys)
                seen += pilot.app.export_screenshot()
            await press(pilot, "r", "end", "up", "home")
            seen += pilot.app.export_screenshot()
    return html.unescape(re.sub("<[^>]*>", "", seen)).replace("\xa0", " ")


@pytest.mark.parametrize("name", ["steering", "circles", "numbers"])
async def test_every_view_of_a_hostile_dump(tmp_path: Path, name: str) -> None:
    root = tmp_path / "dump"
    if name == "steering":
        dumps.write(root, dumps.steering("draw/softmax_mlp_cuda", everything=False))
    else:
        writer = Writer(root)
        writer.run(Run(status="finished", argv=("x.py",), cwd=str(tmp_path)))
        next(shape for shape in SHAPES if shape.__name__ == f"_{name}")(writer)
        writer.flush()

    seen = await _walked(root)

    assert STEERS.search(seen) is None
    assert "cannot be shown" not in seen
    assert "Fusion" in seen
