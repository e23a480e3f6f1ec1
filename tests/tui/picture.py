"""Draws the README's picture of the TUI: `python -m tests.tui.picture` in the repository's root."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from tests.tui.driving import PROGRAM, RECORDED, TESTS, go_to, press, settled

PICTURE = TESTS.parent / "docs" / "images" / "tui.svg"
SIZE = (160, 38)


async def draw(dump: Path) -> str:
    """The line with two softmaxes, and the kernel that computes both."""
    app = InspectApp(Dump(dump))
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        go_to(pilot, "source-rows", "rows, columns = ")
        await press(pilot, "6", "t")
        picture = app.export_screenshot(title="inspect-compile open mixed")
    # Some renderers drop the spaces at the ends of a text, even those that may not break, unless told to keep them.
    return picture.replace("<svg ", '<svg xml:space="preserve" ', 1)


def main() -> None:
    """Write it."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(RECORDED, f"{folder}/mixed")
        shutil.copy(PROGRAM, folder)
        os.chdir(folder)
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(asyncio.run(draw(Path("mixed"))), encoding="utf-8")


if __name__ == "__main__":
    main()
