"""The page in a browser: it is painted, does what it offers, and runs nothing of a dump."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.report import packing
from tests.report.pages import HOSTILE, hostile, recorded, written

ERRORS = ("error", "warning")


@contextlib.asynccontextmanager
async def shown(folder: Path, text: str, **how: Any) -> AsyncIterator[Any]:
    """A page in a browser of its own; nothing may be complained about, and nothing be asked of anyone."""
    pytest.importorskip("aiohttp", reason="aiohttp drives the browser: pip install 'inspect-compile[web]'")
    from tests import browser

    if not browser.PROGRAM:
        pytest.skip("no Chromium is installed")
    file = folder / "shown.html"
    file.write_text(text, encoding="utf-8")
    async with browser.page("about:blank", folder / "profile") as page:
        await page.opens(file, **how)
        yield page
        entries = [one["params"]["entry"] for one in page.said if one.get("method") == "Log.entryAdded"]
        assert not [entry["text"] for entry in entries if entry["level"] in ERRORS], "as of the policy"
        asked = [one["params"]["request"]["url"] for one in page.said if one["method"] == "Network.requestWillBeSent"]
        assert {url.partition(":")[0] for url in asked} == {"file"}, asked
        assert len(asked) == 1, asked


def texts(what: str, of: str = "one.textContent") -> str:
    """An expression for a list of texts, of all elements that a selector finds."""
    return f"JSON.stringify([...document.querySelectorAll({json.dumps(what)})].map(one => {of}))"


def there(what: str) -> str:
    """An expression that is true if a selector finds anything."""
    return f"document.querySelectorAll({json.dumps(what)}).length > 0"


async def test_tables_sort_and_filter(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.is_so("performance.getEntriesByName('first-contentful-paint').length === 1")
        assert await page.says(texts("main > section.on", "one.id")) == '["overview"]'
        await page.says("location.hash = '#table-nodes'")
        await page.is_so(there("#graph.on #table-nodes[open] .tools"))
        rows = "[...document.querySelector('#table-nodes > .wide').querySelectorAll('tbody tr')]"
        names = f"JSON.stringify({rows}.map(one => one.cells[0].textContent))"
        before = json.loads(await page.says(names))
        assert len(before) > 12
        button = "document.querySelector('#table-nodes > .wide th button')"
        await page.says(f"{button}.click()")
        up = json.loads(await page.says(names))
        assert sorted(up) == sorted(before)
        await page.says(f"{button}.click()")
        down = json.loads(await page.says(names))
        assert [name for name in down if name] == [name for name in reversed(up) if name]
        box = "document.querySelector('#table-nodes > .tools input')"
        await page.says(f"{box}.value = 'softmax'; {box}.dispatchEvent(new Event('input'))")
        kept = json.loads(await page.says(f"JSON.stringify({rows}.map(one => one.textContent))"))
        assert len(kept) < len(before)
        assert all("softmax" in row for row in kept)


async def test_a_link_to_a_section_keeps_the_header_in_view(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.is_so("document.querySelector('nav a[aria-current]') !== null")
        names = json.loads(await page.says(texts("main > section", "one.id")))
        for name in [*names, *reversed(names)]:
            await page.says(f"document.querySelector('nav a[href=\"#{name}\"]').click()")
            await page.is_so(f"document.querySelector('section.on').id === '{name}'")
            await page.says("seen = false; requestAnimationFrame(() => requestAnimationFrame(() => { seen = true; }))")
            await page.is_so("seen")
            assert await page.says("scrollY") == 0, name


async def test_a_chosen_line_marks_its_nodes_and_statements(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.says("location.hash = '#code'")
        await page.is_so(there("#code.on .column"))
        lines = "[...document.querySelectorAll('.column:first-child [data-n]')]"
        line = f"{lines}.find(one => one.textContent.includes('softmax'))"
        await page.says(f"{line}.click()")
        numbers = set((await page.says(f"{line}.dataset.n")).split())
        marked = json.loads(await page.says(texts(".marked", "one.dataset.n")))
        assert len(marked) > 3
        assert all(numbers & set(of.split()) for of in marked)
        others = json.loads(
            await page.says(texts("#code .columns:has(.marked) [data-n]:not(.marked)", "one.dataset.n"))
        )
        assert not any(numbers & set(of.split()) for of in others)
        assert await page.says(there("details.kernel[open]"))
        await page.says(f"{line}.click()")
        assert not await page.says(there(".marked"))


async def test_search_finds_what_is_folded_and_goes_there(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        box = "document.querySelector('.search input')"
        await page.says(f"{box}.value = 'runnable softmax'; {box}.dispatchEvent(new Event('input'))")
        await page.is_so("document.querySelector('.search [role=status]').textContent === '0 places'")
        await page.says(f"{box}.value = '_SOFTMAX'; {box}.dispatchEvent(new Event('input'))")
        await page.is_so(there(".hits button"))
        hits = json.loads(await page.says(texts(".hits button")))
        assert all("_softmax" in hit for hit in hits)
        assert {"Texts", "Fusion"} <= {hit.partition(" › ")[0] for hit in hits}
        of_text = "[...document.querySelectorAll('.hits button')].find(one => one.textContent.startsWith('Texts'))"
        await page.says(f"{of_text}.click()")
        await page.is_so(there("#texts.on details[open]"))
        assert "_softmax" in await page.says("getSelection().toString()")
        place = "(() => { const box = getSelection().getRangeAt(0).getBoundingClientRect(); return "
        assert await page.says(f"{place} 0 <= box.top && box.bottom <= innerHeight; }})()")


async def test_a_compile_leads_to_its_texts(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        links = json.loads(await page.says(texts(".tree a[href*=texts]", "decodeURIComponent(one.hash)")))
        assert links
        await page.says("document.querySelector('.tree a[href*=texts]').click()")
        await page.is_so(there("#texts.on"))
        top = f"document.getElementById({json.dumps(links[0][1:])}).getBoundingClientRect().top"
        await page.is_so(f"0 <= {top} && {top} < innerHeight")


async def test_a_picture_is_enlarged(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.says("location.hash = '#pictures'")
        await page.is_so(there("#pictures .tools button"))
        box = "document.querySelector('.canvas svg').viewBox.baseVal"
        before = await page.says(f"{box}.width")
        await page.says("document.querySelector('#pictures .tools button').click()")
        assert await page.says(f"{box}.width") == pytest.approx(0.7 * before, rel=0.01)


async def test_without_a_script_everything_is_seen(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path)), script=False, width=420, dark=True) as page:
        hidden = "[...document.querySelectorAll('main > section')].filter(one => !one.offsetHeight).length"
        assert await page.says(hidden) == 0
        assert "JavaScript is off" in await page.says("document.querySelector('noscript').innerText")
        assert await page.says("document.documentElement.scrollWidth <= 420"), "what is wide scrolls by itself"
        assert await page.says("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"


@pytest.mark.parametrize("is_packed", [False, True])
async def test_nothing_of_a_hostile_dump_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_packed: bool) -> None:
    if is_packed:
        monkeypatch.setattr(packing, "PLAIN", 0)
    async with shown(tmp_path, written(tmp_path, hostile(tmp_path / "dump").root)) as page:
        for name in ("overview", "code", "pictures", "frontend", "graph", "fusion", "kernels", "cost", "time", "texts"):
            await page.says(f"location.hash = '#{name}'")
            await page.is_so(there(f"#{name}.on"))
            await page.says("unpack(document.body, true).then(() => { unpacked = true; })")
            await page.is_so("unpacked")
            await page.says("for (const fold of document.querySelectorAll('details')) fold.open = true")
            await page.says("for (const one of document.querySelectorAll('th button, [data-n]')) one.click()")
        assert await page.says("typeof window.hacked") == "undefined"
        assert await page.says("document.scripts.length") == 1
        assert await page.says("document.querySelectorAll('iframe, img, object, embed, link').length") == 0
        text = await page.says("document.body.textContent")
        assert all(attempt in " ".join(text.split()) for attempt in HOSTILE)


async def test_a_browser_that_is_too_old_is_told(tmp_path: Path) -> None:
    page_text = written(tmp_path, recorded(tmp_path))
    async with shown(tmp_path, page_text, lacks="DecompressionStream") as page:
        assert "This browser cannot unpack" in await page.says("document.querySelector('header').textContent")
