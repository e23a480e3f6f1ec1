"""The pages that the site is made of: every document has its place, and every link and moved section is found again."""

import re
from pathlib import Path

import pytest
import yaml

from tests.scripted import script

stage_pages = script("stage_pages")
ROOT = Path(__file__).resolve().parent.parent


class Loader(yaml.SafeLoader):  # type: ignore[misc]
    """mkdocs.yml names a function of Python's, which is not called here."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)


def places(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(inner, list) or hasattr(inner, "__iter__")
    return [place for one in inner for place in places(one)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage_pages, "PAGES", folder)
        stage_pages.main()
    return folder


def test_every_page_has_one_place(pages: Path) -> None:
    there = sorted(path.relative_to(pages).as_posix() for path in pages.rglob("*.md"))
    assert sorted(places(CONFIG["nav"])) == there


def test_every_link_leads_to_a_file_and_a_heading(pages: Path) -> None:
    astray = []
    for page in pages.rglob("*.md"):
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target, fragment in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
            path = page.parent / target if target else page
            known = path.exists() and path.is_relative_to(pages)
            if known and fragment:
                headings = stage_pages.headings(path.read_text(encoding="utf-8"))
                known = fragment in map(stage_pages.anchor, headings)
            if not known:
                astray.append(f"{page.relative_to(pages)}: {target}#{fragment}")
    assert astray == []


def test_notes_stand_in_the_appendix_and_nowhere_else(pages: Path) -> None:
    (appendix,) = (
        one
        for entry in CONFIG["nav"]
        if isinstance(entry, dict)
        for name, one in entry.items()
        if name.startswith("Appendix")
    )
    assert {Path(place).name for place in places(appendix) if "/notes/" in place} == {
        Path(page).name for page in stage_pages.NOTES
    }
    for page, title in stage_pages.NOTES.items():
        whole = (ROOT / page).read_text(encoding="utf-8")
        moved = stage_pages.cut(whole, title).text
        last = moved.strip().splitlines()[-1]
        note, rest = pages / "docs" / "notes" / Path(page).name, pages / page
        assert note.read_text(encoding="utf-8").startswith(f"# {title}\n")
        assert len(rest.read_text(encoding="utf-8")) < len(whole)
        assert last[:30] in note.read_text(encoding="utf-8")


def test_a_section_ends_where_the_next_one_begins() -> None:
    text = "# Page\n\n## One\n\na\n\n### Below\n\nb\n\n## Two\n\nc\n"
    cut = stage_pages.cut(text, "One")
    assert cut.text == "## One\n\na\n\n### Below\n\nb\n\n"
    assert cut.after == "## Two\n\nc\n"
    assert stage_pages.raised(cut.text, 1).startswith("# One\n\na\n\n## Below\n")


def test_nothing_of_the_site_is_loaded_from_elsewhere() -> None:
    assert CONFIG["theme"]["font"] is False
    assert CONFIG["strict"] is True
