"""Addresses, keys, commands, the narrow screen and paper: what makes a page of tables a page."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.report import packing
from tests.report.pages import failed, recorded, written
from tests.report.test_browser import shown, texts, there

NARROW = 420


@pytest.fixture(params=[False, True], ids=["plain", "packed"])
def page_text(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The page of the recorded dump: as it is, and with all of it packed that can be."""
    if request.param:
        monkeypatch.setattr(packing, "PLAIN", 0)
        monkeypatch.setattr(packing, "PLAIN_OF_MANY", 0)
    return written(tmp_path, recorded(tmp_path))


async def test_an_address_leads_to_a_kernel_a_node_a_line_and_a_graph(tmp_path: Path, page_text: str) -> None:
    dump = open_dump(tmp_path / "mixed")
    last = CompiledGraph(dump, dump.outermost()[-1].graph)
    kernel = next(one for one in last.kernels if one.source)
    node = next(one for one in last.nodes if one.op == "call_function")
    assert node.where is not None
    line = f"{Path(node.where.file).name}:{node.where.line}"
    async with shown(tmp_path, page_text) as page:
        for place, text in (
            (f"graph={last.name}&kernel={kernel.name}", kernel.name),
            (f"graph={last.name}&node={node.name}", f"{node.name} = "),
            (f"kernel={kernel.name}", kernel.name),
            (f"node={node.name}", f"{node.name} = "),
            (f"line={line}", node.where.code.strip()),
            (f"graph={last.name}", last.name),
        ):
            await page.says(f"location.hash = ''; location.hash = '#{quote(place, safe='=&:')}'")
            await page.is_so(there("#code.on"))
            await page.is_so(
                f"(document.querySelector('.target') || {{ textContent: '' }}).textContent.includes({json.dumps(text)})"
            )
            box = "document.querySelector('.target').getBoundingClientRect()"
            assert await page.says(f"0 <= {box}.top && {box}.top < innerHeight"), place
        assert await page.says(texts(".target", "one.id")) == json.dumps([f"graph={last.name}"])


async def test_the_line_of_an_address_marks_its_kernel(tmp_path: Path, page_text: str) -> None:
    """Which kernel does this line go to?"""
    dump = open_dump(tmp_path / "mixed")
    first = CompiledGraph(dump, dump.outermost()[0].graph)
    name, line = next((name, line) for name, line in first.provenance.line_of_node.items() if line.number)
    kernels = {first.kernels[place].name for place in first.provenance.kernels_of_node.get(name, ())}
    async with shown(tmp_path, page_text) as page:
        await page.says(f"location.hash = '#line={Path(line.file).name}:{line.number}'")
        await page.is_so(there(".chosen"))
        marked = await page.says(texts(".kernel:has(.marked), .kernel.marked"))
        assert kernels
        assert all(kernel in marked for kernel in kernels)


@pytest.mark.parametrize("of", ["recorded", "failed"])
async def test_each_question_leads_to_its_answer(tmp_path: Path, of: str) -> None:
    root = recorded(tmp_path) if of == "recorded" else failed(tmp_path / "dump").root
    answers = {
        "What is slow?": "finding",
        "Which kernel does a line go to?": "Program",
        "Why was it compiled again?": "x.size(0) == 4",
        "Where did it fail?": "no fake impl was registered",
        "What is saved for backward?": "kept for the backward",
    }
    async with shown(tmp_path, written(tmp_path, root)) as page:
        asked = json.loads(await page.says(texts(".questions a")))
        missing = {"Where did it fail?"} if of == "recorded" else {"What is saved for backward?"}
        assert not missing & set(asked)
        for question in asked:
            link = f"[...document.querySelectorAll('.questions a')].find(a => a.textContent === {json.dumps(question)})"
            place = await page.says(f"{link}.hash.slice(1)")
            await page.says(f"{link}.click()")
            target = f"document.getElementById('{place}')"
            await page.is_so(f"{target} !== null && {target}.offsetHeight > 0")
            box = f"{target}.getBoundingClientRect()"
            await page.is_so(f"0 <= {box}.top + 1 && {box}.top < innerHeight")
            about = f"({target}.closest('.failures') || {target}).textContent"
            if of == "failed" or question != "Why was it compiled again?":
                assert await page.says(f"{about}.includes({json.dumps(answers[question])})"), question


async def test_links_lead_somewhere(tmp_path: Path, page_text: str) -> None:
    async with shown(tmp_path, page_text) as page:
        await page.says("unpack(document.body, true).then(() => { unpacked = true; })")
        await page.is_so("window.unpacked === true")
        nowhere = "[...document.querySelectorAll('a')].filter(one => !byId(one.hash.slice(1))).map(one => one.hash)"
        assert await page.says(f"JSON.stringify({nowhere})") == "[]"
        kinds = json.loads(await page.says(texts("main a", "one.hash.slice(1).split('=')[0]")))
        assert {"graph", "node", "kernel", "line", "compile", "finding"} <= set(kinds)
        ids = json.loads(await page.says(texts("[id]", "one.id")))
        assert len(ids) == len(set(ids))


async def test_a_command_is_a_whole_line_for_any_machine(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.is_so(there("code.cmd + button, a.cmd + button"))
        commands = json.loads(await page.says(texts("code.cmd")))
        assert "inspect-compile show mixed findings" in commands
        assert all(command.startswith("inspect-compile ") for command in commands)
        assert not any(str(tmp_path) in command for command in commands)
        field = "document.querySelector('.dump-field input')"
        await page.says(f"{field}.value = 'my dumps/it'; {field}.dispatchEvent(new Event('input'))")
        assert "inspect-compile show 'my dumps/it' findings" in json.loads(await page.says(texts("code.cmd")))


async def test_keys(tmp_path: Path) -> None:
    async def press(key: str, of: str = "document.activeElement") -> None:
        await page.says(f"{of}.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")

    async with shown(tmp_path, written(tmp_path, recorded(tmp_path))) as page:
        await page.is_so(there("nav a[aria-current]"))
        await press("/", "document.body")
        assert await page.says("document.activeElement.type") == "search"
        await press("Escape")
        assert await page.says("document.activeElement === document.body")
        await press("]")
        await page.is_so(there("#compiles.on"))
        await press("[")
        await page.is_so(there("#overview.on"))
        await press("?")
        assert await page.says("document.querySelector('dialog').open")
        await page.says("document.querySelector('dialog').close()")
        await press("t", "document.body")
        assert await page.says("document.documentElement.dataset.theme") == "light"
        await press("t", "document.body")
        assert await page.says("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
        await page.says("location.hash = '#code'")
        await page.is_so(there("#code.on .pane"))
        await page.says("document.querySelector('.pane').focus()")
        await press("ArrowDown")
        await press("ArrowDown")
        assert await page.says("document.activeElement.matches('.pane [data-n]')")
        await press("Enter")
        assert await page.says("document.activeElement.classList.contains('chosen')")
        assert await page.says("location.hash.startsWith('#line=')"), "the address of what is chosen"


async def test_a_narrow_screen_scrolls_down_only_and_rows_are_cards(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path)), width=NARROW) as page:
        for name in json.loads(await page.says(texts("main > section", "one.id"))):
            await page.says(f"location.hash = '#{name}'")
            await page.is_so(there(f"#{name}.on"))
            assert await page.says(f"document.documentElement.scrollWidth <= {NARROW}"), name
        await page.says("location.hash = '#table-kernels'")
        await page.is_so(there("#table-kernels tbody td[data-label]"))
        wide = "[...document.querySelectorAll('#table-kernels .wide')].filter(one => one.scrollWidth > one.clientWidth)"
        assert await page.says(f"{wide}.length") == 0, "no table scrolls sideways"
        labels = set(json.loads(await page.says(texts("#table-kernels td[data-label]", "one.dataset.label"))))
        assert {"form", "reads", "writes"} <= labels


async def test_on_paper_all_sections_are_light_and_without_tools(tmp_path: Path) -> None:
    async with shown(tmp_path, written(tmp_path, recorded(tmp_path)), dark=True) as page:
        await page.is_so(there("nav a[aria-current]"))
        await page.ask("Emulation.setEmulatedMedia", media="print")
        await page.is_so("getComputedStyle(document.querySelector('nav')).display === 'none'")
        assert await page.says("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for name in ("overview", "compiles", "kernels"):
            assert await page.says(f"document.getElementById('{name}').offsetHeight > 0")
        assert await page.says("getComputedStyle(document.querySelector('.search')).display") == "none"
