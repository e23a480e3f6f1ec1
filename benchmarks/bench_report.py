"""How large the page of a dump is, how long it takes to write, and how fast headless Chromium opens it from disk.

    python benchmarks/bench_report.py [DUMP …]

Without a DUMP: a step of GPT-2 of 12 layers, forward and backward, recorded now on the CPU; and 10,000 FX nodes
(`synthetic_dump.py`). The times are the least of `--turns`, each in a browser of its own: from the start of the
navigation to the first paint, and until the page is ready for a person: its overview is there with sorted tables and
buttons. `search` is the first search, which unpacks everything; `code` is from the address of the last kernel to the
marked line.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import synthetic_dump

from tests import browser

GPT2: Final = Path(__file__).parent / "programs" / "gpt2_step.py"
_NOW: Final = "performance.now()"


class _Opened(NamedTuple):
    """Milliseconds."""

    paint: float
    ready: float
    search: float
    code: float


async def opened(page_file: Path) -> _Opened:
    """One visit."""
    with tempfile.TemporaryDirectory() as folder:
        async with browser.page("about:blank", Path(folder), width=1400, height=900) as page:
            await page.opens(page_file)
            await page.is_so("performance.getEntriesByName('ready').length === 1")
            paint = await page.says("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            ready = await page.says("performance.getEntriesByName('ready')[0].startTime")
            await page.says("location.hash = '#code'")
            await page.is_so("document.querySelector('#code.on .kernel') !== null")
            last = "[...document.querySelectorAll('#code .kernel[id]')].at(-1).id"
            code = await _until(page, f"location.hash = '#' + {last}", "document.querySelector('.chosen, .target')")
            box = "document.querySelector('.search input')"
            asked = f"{box}.value = 'gelu'; {box}.dispatchEvent(new Event('input'))"
            search = await _until(
                page, asked, r"/place/.test(document.querySelector('.search [role=status]').textContent)"
            )
    return _Opened(paint, ready, search, code)


async def _until(page: browser.Page, act: str, condition: str) -> float:
    """Milliseconds from an action to when a condition holds, as the page's own frames see it."""
    watch = f"(function look() {{ if ({condition}) took = {_NOW} - began; else requestAnimationFrame(look); }})()"
    await page.says(f"took = 0; began = {_NOW}; {act}; {watch}")
    await page.is_so("took > 0")
    return float(await page.says("took"))


def measure(name: str, dump: Path, turns: int) -> None:
    """Print one line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        command = [sys.executable, "-m", "inspect_compile", "report", str(dump), "-o", str(file)]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        written = time.perf_counter() - start
        visits = [asyncio.run(opened(file)) for _ in range(turns)]
        least = _Opened(*(min(column) for column in zip(*visits, strict=True)))
        figures = f"{least.paint:8.0f}{least.ready:8.0f}{least.search:9.0f}{least.code:8.0f}"
        print(f"{name:<28}{file.stat().st_size / 1e6:8.2f}{written:10.1f}{figures}", flush=True)


def record_gpt2(root: Path) -> None:
    """A step of GPT-2 of 12 layers."""
    recorded = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(root)]
    subprocess.run([*recorded, str(GPT2), "12"], check=True, stdout=subprocess.DEVNULL, cwd=root.parent)


def synthetic(root: Path) -> None:
    """A graph that is larger than any that people sent."""
    synthetic_dump.make(root, 10_000)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("dumps", nargs="*", type=Path)
    asked = parser.parse_args()
    if not browser.PROGRAM:
        parser.error("no Chromium is installed")
    print(f"{'dump':<28}{'MB':>8}{'written s':>10}{'paint':>8}{'ready':>8}{'search':>9}{'code':>8}   ms")
    for dump in asked.dumps:
        measure(dump.name, dump, asked.turns)
    if asked.dumps:
        return
    for name, make in (("GPT-2, 12 layers, a step", record_gpt2), ("10,000 FX nodes", synthetic)):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder) / "dump")
            measure(name, Path(folder) / "dump", asked.turns)


if __name__ == "__main__":
    main()
