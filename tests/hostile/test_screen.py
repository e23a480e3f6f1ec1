"""The terminal app on hostile dumps: every view is walked through, and what stands on the screen is only text."""

import contextlib
import html
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Run
from inspect_compile.tui.app import InspectApp
from tests.hostile import dumps
from tests.hostile.test_shapes import SHAPES
from tests.hostile.watch import STEERS, in_time, watched
from tests.tui.driving import RECORDED, main_screen, press, said, settled, until


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


def _shuffled(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(chance.sample(lines, len(lines)))


def _spoiled(data: bytes, chance: random.Random) -> bytes:
    spoiled = bytearray(data or b"x")
    for _ in range(20):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled)


CONTENTS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    lambda data, chance: data,
    lambda data, chance: data * 2,
    lambda data, chance: data[: chance.randrange(len(data) + 1)],
    lambda data, chance: data + chance.choice((b"\n", b"{}\n", b"null\n", b"\xff\n", b'{"a":' * 3000, b"x" * 100_000)),
    _shuffled,
    _spoiled,
)
"""What a file of the dump may hold next, made of what was recorded."""

PLACES: tuple[Callable[[Path], None], ...] = (
    lambda path: None,
    lambda path: path.mkdir(),
    lambda path: os.mkfifo(path),
    lambda path: path.symlink_to("/"),
)
"""What may take its place: nothing, and what is no file."""


def _change(root: Path, chance: random.Random) -> None:
    """Put something else in the place of one of the dump's files; never through a link."""
    source = chance.choice([path for path in RECORDED.rglob("*.*") if path.is_file() and path.name != "run.json"])
    path = root / source.relative_to(RECORDED)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    if chance.random() < 0.3:
        chance.choice(PLACES)(path)
    else:
        path.write_bytes(chance.choice(CONTENTS)(source.read_bytes(), chance))


@pytest.mark.harmless
@pytest.mark.parametrize("seed", range(4))
async def test_a_hostile_dump_that_grows(tmp_path: Path, seed: int) -> None:
    """Files are cut, doubled, spoiled and replaced while it is looked at; once the dump is whole, it is shown whole."""
    chance = random.Random(seed)
    root = tmp_path / "dump"
    shutil.copytree(RECORDED, root)
    writer, run = Writer(root), replace(Dump(RECORDED).run, status="running", pid=os.getpid())
    writer.run(run)
    with watched(root), in_time():
        async with InspectApp(Dump(root)).run_test(size=(150, 40)) as pilot:
            for _ in range(25):
                for _ in range(chance.randrange(1, 6)):
                    _change(root, chance)
                with contextlib.suppress(OSError):
                    root.joinpath("run.json").write_text("{") if chance.random() < 0.1 else writer.run(run)
                await pilot.pause(0.3 * chance.random())
                await pilot.press(chance.choice([*"12345678rs", "end", "home", "down", "up", "enter", "tab"]))
                seen = html.unescape(re.sub("<[^>]*>", "", pilot.app.export_screenshot()))
                assert STEERS.search(seen) is None
            shutil.rmtree(root)
            shutil.copytree(RECORDED, root)
            await until(pilot, lambda: "live" not in said(pilot, "top"))
            await press(pilot, "1")
            assert not main_screen(pilot).query_one("#failure").display
            assert "cannot be shown" not in pilot.app.export_screenshot()
