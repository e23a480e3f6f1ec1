"""Lay out build/pages, which mkdocs makes the site of: the Markdown of docs/ and of the root, with links that hold.

    python scripts/stage_pages.py

README.md is the first page. What was measured and tried is for whoever doubts it, so its sections stand in pages of an
appendix (NOTES), with a link to each in its place. What is linked to and is no page (a sample, a file of the
repository) is copied beside the pages.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ROOT / "build" / "pages"

NOTES: Final = {
    "docs/findings.md": "Tried by hand",
    "docs/harmless.md": "How it is tested",
    "docs/memory.md": "How it is tested",
    "docs/numerics.md": "How well this works",
    "docs/security.md": "How it is tested",
}
"""Page → the section of it that is a laboratory note."""

PYTHON: Final = """\
# Python

[In Python and in notebooks](api.md) says what these are for, and which of them are promised.

## Recording

::: inspect_compile.api.capture.capture

::: inspect_compile.child.capture.install

## Reading

::: inspect_compile.api.recording.open_dump

::: inspect_compile.api.recording.Recording

::: inspect_compile.api.recording.Rows

::: inspect_compile.analysis.findings.finding.Finding

## In pytest

::: inspect_compile.testing.captures.InspectCompile

::: inspect_compile.testing.assertions.Compiled

## Errors

::: inspect_compile.errors.CommandError

::: inspect_compile.errors.DumpError
"""
"""The page whose text the docstrings have."""

_LINK: Final = re.compile(r"`[^`\n]*\]\([^`\n]*`|(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
"""A link: its text with the bracket, its target, the closing bracket; or code that looks like one, without groups."""
_CODE: Final = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_HEADING: Final = re.compile(r"^(#+) +(.+)$", re.MULTILINE)


class Section(NamedTuple):
    """A part of a page, from its heading to the next one that is not below it."""

    before: str
    text: str
    after: str


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    sources = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "changelog.d" / "README.md"]
    pages = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(sources)}
    moved: dict[tuple[str, str], str] = {}
    for page, title in NOTES.items():
        section = cut(pages[page], title)
        note = f"docs/notes/{Path(page).name}"
        level = re.match(r"#+", section.text)
        assert level is not None
        link = f"{level[0]} {title}\n\nIn the [laboratory notes](notes/{Path(page).name}).\n\n"
        pages[page] = f"{section.before}{link}{section.after}"
        pages[note] = raised(section.text, len(level[0]) - 1)
        moved |= {(page, anchor(heading)): note for heading in headings(section.text)[1:]}
    pages["docs/python.md"] = PYTHON
    for page, text in pages.items():
        write(PAGES / staged(page), linked(page, text, pages, moved))
    for name in ("images", "dump.schema.json"):
        copy(ROOT / "docs" / name, PAGES / "docs" / name)


def cut(text: str, title: str) -> Section:
    """The section called `title`."""
    found = re.search(rf"^(#+) {re.escape(title)}\n", text, re.MULTILINE)
    assert found is not None, f"no section is called {title}"
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.MULTILINE).search(text, found.end())
    stop = len(text) if end is None else end.start()
    return Section(text[: found.start()], text[found.start() : stop], text[stop:])


def raised(text: str, levels: int) -> str:
    """The section as a page: its headings `levels` higher."""
    return _HEADING.sub(lambda found: f"{found[1][levels:]} {found[2]}", text)


def headings(text: str) -> list[str]:
    return [found[1] for found in _HEADING.findall(_CODE.sub("", text))]


def anchor(heading: str) -> str:
    """The fragment that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def staged(page: str) -> str:
    """Where a page stands: the first one is README.md, and docs/README.md its index."""
    return {"README.md": "index.md"}.get(page, page)


def linked(page: str, text: str, pages: dict[str, str], moved: dict[tuple[str, str], str]) -> str:
    """The text of a page with its links as they are in the site; the files that it links to are copied."""

    def new(found: re.Match[str]) -> str:
        target, _, fragment = (found[2] or "").partition("#")
        if found[2] is None or "://" in target or target.startswith("mailto:"):
            return found[0]
        of_note = page.startswith("docs/notes/")
        here = f"docs/{Path(page).name}" if of_note else page
        path = os.path.normpath(os.path.join(os.path.dirname(here), target)) if target else here
        if of_note and page == f"docs/notes/{target}":
            path = page
        goal = moved.get((path, fragment), path)
        if page.startswith("docs/") and goal.startswith("notes/"):
            goal = f"docs/{goal}"
        if goal.startswith("docs/notes/") or goal in pages:
            place = staged(goal)
        else:
            place = kept(ROOT / goal)
        link = os.path.relpath(place, os.path.dirname(staged(page)) or ".")
        return f"{found[1]}{link}{'#' * bool(fragment)}{fragment}{found[3]}"

    parts = _CODE.split(text)
    return "".join(part if place % 2 else _LINK.sub(new, part) for place, part in enumerate(parts))


def kept(path: Path) -> str:
    """Copy what is no page, of a folder the files in it, and say where it stands."""
    assert path.exists(), f"{path.relative_to(ROOT)}: a page links to it"
    place = path.relative_to(ROOT).as_posix()
    if not path.is_dir():
        name = place if Path(place).suffix else f"{place}.txt"
        copy(path, PAGES / name)
        return name
    names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*.py"))
    for name in names:
        copy(path / name, PAGES / place / name)
    listed = "".join(f"- [{name}]({name})\n" for name in names)
    write(PAGES / place / "index.md", f"# {place}\n\n{listed}")
    return f"{place}/index.md"


def copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, to, dirs_exist_ok=True)
    else:
        shutil.copyfile(path, to)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
