"""What axe-core says of the page, in both themes, wide and narrow."""

import importlib.util
from pathlib import Path

import pytest

from tests.report.pages import failed, recorded, written
from tests.report.test_browser import shown, there

RUN = (
    "axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map("
    "one => [one.id, one.nodes.map(node => node.html.slice(0, 200))])))"
)


def axe() -> str:
    """The source of axe-core, where its package is installed."""
    found = importlib.util.find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("axe-core is not installed: pip install axe-core-python")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


async def violations(folder: Path, root: Path, *, dark: bool, width: int) -> str:
    """What axe finds in the page of a dump with all sections shown and everything unfolded."""
    source = axe()
    async with shown(folder, written(folder, root), dark=dark, width=width) as page:
        await page.is_so(there("nav a[aria-current]"))
        await page.says("for (const one of document.querySelectorAll('main > section')) one.classList.add('on')")
        await page.says("for (const one of document.querySelectorAll('details')) one.open = true")
        await page.says("prepare(document.querySelector('main')).then(() => { ready = true; })")
        await page.is_so("window.ready === true")
        await page.says(f"{source}; 0")
        found = await page.ask("Runtime.evaluate", expression=RUN, awaitPromise=True, returnByValue=True)
        return str(found["result"].get("value"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 420])
async def test_no_violation(tmp_path: Path, dark: bool, width: int) -> None:
    assert await violations(tmp_path, failed(tmp_path / "dump").root, dark=dark, width=width) == "[]"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_violation_in_a_recorded_dump(tmp_path: Path, dark: bool) -> None:
    assert await violations(tmp_path, recorded(tmp_path), dark=dark, width=1400) == "[]"
