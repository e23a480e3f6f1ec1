"""The README's moving picture: several of Rich's in one, one at a time; whole and still where nothing moves."""

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console

from tests.tui.moving import SECONDS, moving
from tests.tui.picture import PICTURES, README
from tests.tui.tour import MOVING, STOPS

SVG = "{http://www.w3.org/2000/svg}"
LIMIT = 400_000
"""Bytes: GitHub's pages load it each time."""


def picture(text: str, width: int = 40) -> str:
    console = Console(record=True, width=width, file=io.StringIO())
    console.print(text)
    return console.export_svg(title="a title", unique_id="x").replace("x-", "")


def shown(svg: str) -> list[ET.Element]:
    """Its pictures."""
    return [one for one in ET.fromstring(svg).iter(f"{SVG}g") if one.get("class") == "picture"]


def texts(picture: ET.Element) -> str:
    return " ".join("".join(picture.itertext()).replace("\xa0", " ").split())


def test_pictures_follow_each_other_and_only_the_first_shows_by_itself() -> None:
    found = shown(moving({"1": picture("[red]one"), "<2>": picture("[blue]two"), "3": picture("[red]three")}))
    assert [texts(one) for one in found] == ["1 one", "<2> two", "3 three"]
    assert [one.get("opacity") for one in found] == [None, "0", "0"]
    assert [one.get("style") for one in found] == [f"animation-delay:{n * SECONDS}s" for n in range(3)]


def test_each_keeps_its_colours() -> None:
    alone = [picture("[red]one"), picture("[blue]two[red]three")]
    together = moving(dict(zip("12", alone, strict=True)))

    def coloured(svg: str, part: str) -> dict[str, str]:
        rules = dict(re.findall(r"\.([rc]\d+) \{ (.*) \}", svg))
        return {text: rules[name] for name, text in re.findall(r'<text class="([rc]\d+)"[^>]*>([^<]+)<', part)}

    parts = [ET.tostring(one, "unicode").replace("ns0:", "") for one in shown(together)]
    found = [coloured(together, part) for part in parts]
    assert found == [coloured(svg, svg) for svg in alone]
    assert found[0]["one"] == found[1]["three"] != found[1]["two"]


def test_pictures_of_several_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="several sizes"):
        moving({"1": picture("one"), "2": picture("two", width=50)})


def test_the_readme_shows_the_pictures_of_the_tour() -> None:
    svg = README.read_text("utf-8")
    found = [texts(one) for one in shown(svg)]
    stops = {stop.name: stop for stop in STOPS}
    assert svg == moving({title: (PICTURES / f"{name}.svg").read_text("utf-8") for name, title in MOVING.items()})
    assert len(svg.encode()) < LIMIT
    assert len(found) == len(MOVING)
    for (name, title), read in zip(MOVING.items(), found, strict=True):
        assert read.startswith(title)
        assert all(words in read for words in stops[name].sees)
    assert "<script" not in svg
    assert re.findall(r'(?:href|src)="', svg) == []


async def test_a_browser_shows_one_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="aiohttp drives the browser: pip install 'inspect-compile[web]'")
    from tests import browser

    if not browser.PROGRAM:
        pytest.skip("no Chromium is installed")
    visible = "[...document.querySelectorAll('.picture')].map(one => getComputedStyle(one).opacity).join('')"
    async with browser.page("about:blank", tmp_path) as page:
        await page.opens(README)
        for index in (0, 1, 2, 3, 4):
            now = (index * SECONDS + 1) * 1000
            await page.says(f"document.getAnimations().forEach(one => {{ one.pause(); one.currentTime = {now} }})")
            assert await page.says(visible) == "".join(str(int(n == index % 4)) for n in range(4))
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        await page.ask("Emulation.setEmulatedMedia", features=[still])
        assert await page.says(visible) == "1000"
