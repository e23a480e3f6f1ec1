"""docs/fusion.md tells every reason: its table is what the registry says (pytest --update-golden writes it)."""

from pathlib import Path

import pytest

from inspect_compile.knowledge.fusion.reasons import REASONS
from inspect_compile.knowledge.fusion.reasons.reason import About, Reason

PAGE = Path(__file__).resolve().parents[3] / "docs" / "fusion.md"
MARK = "<!-- reasons -->\n"
HEADS: dict[About, str] = {
    "legality": "Fusing would be wrong",
    "profit": "Fusing would not pay, or is switched off",
    "backend": "The code generator cannot write it",
    "never tried": "Nobody asked",
}


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def row(reason: Reason) -> str:
    words = " · ".join(f"“{cell(template).replace('{}', '…')}”" for template in reason.templates)
    meaning = cell(reason.meaning) + (f"<br>{words}" if words else "")
    knob = f"`{reason.knob}`" if reason.knob else ""
    return f"| `{reason.code}` | {meaning} | {cell(reason.advice)} | {knob} | {reason.versions or '–'} |"


def tables() -> str:
    parts = []
    for about, head in HEADS.items():
        rows = "\n".join(row(reason) for reason in REASONS if reason.about == about)
        lines = f"| code | meaning, and torch's words | what you can do | knob | torch |\n|---|---|---|---|---|\n{rows}"
        parts.append(f"\n### {head}\n\n{lines}\n")
    return "".join(parts)


def test_the_page_holds_every_reason(request: pytest.FixtureRequest) -> None:
    before, mark, after = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark
    if request.config.getoption("--update-golden"):
        PAGE.write_text(before + MARK + tables(), encoding="utf-8")
        return
    assert after == tables(), "docs/fusion.md (pytest --update-golden, if meant)"
    assert {reason.about for reason in REASONS} == set(HEADS)
