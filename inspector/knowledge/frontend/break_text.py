"""How torch words a graph break."""

import re
from typing import Final

_SECTION: Final = re.compile(r"^[^\S\n]*(Explanation|Hint|Developer debug context):\s*", re.MULTILINE)


def split_reason(text: str) -> tuple[str, str | None, tuple[str, ...]]:
    """torch's break message → (what happened, explanation, hints)."""
    parts = _SECTION.split(text)
    explanation: str | None = None
    hints: list[str] = []
    for heading, body in zip(parts[1::2], parts[2::2], strict=False):
        words = " ".join(body.split())
        if heading == "Explanation":
            explanation = words
        elif heading == "Hint":
            hints.append(words)
    return parts[0].strip(), explanation, tuple(hints)
