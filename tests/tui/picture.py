"""Draws the app's pictures in README.md and docs/tour.md: `make pictures`."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

from tests.tui.driving import TESTS
from tests.tui.moving import moving
from tests.tui.tour import MOVING, PANES, STOPS, Stop, app_of, go, prepare

PICTURES = TESTS.parent / "docs" / "images" / "tour"
README = PICTURES.parent / "answers.svg"


async def draw(stop: Stop) -> str:
    """A stop as SVG."""
    app = app_of(stop)
    async with app.run_test(size=stop.size) as pilot:
        await go(pilot, stop)
        picture = app.export_screenshot(title=f"inspect-compile open {stop.dump}")
    # Some renderers drop the spaces at the ends of a text, even those that may not break, unless told to keep them.
    return re.sub(r"terminal-\d+-", "", picture.replace("<svg ", '<svg xml:space="preserve" ', 1))


def main() -> None:
    """Write them."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        os.chdir(folder)
        drawn = {stop.name: asyncio.run(draw(stop)) for stop in (PANES, *STOPS)}
    for name, picture in drawn.items():
        (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")
    README.write_text(moving({title: drawn[name] for name, title in MOVING.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
