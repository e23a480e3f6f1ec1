"""Which lines of a text begin inside of a string or a comment that an earlier line opened."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

_STRINGS: Final = {
    "python": re.compile(
        r"#[^\n]*"
        r'|"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+(?:"""|\\?\Z)'
        r"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+(?:'''|\\?\Z)"
        r"|\"(?:\\.|[^\"\\\n])*+\"?"
        r"|'(?:\\.|[^'\\\n])*+'?",
        re.DOTALL,
    ),
    "cpp": re.compile(
        r"//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?", re.DOTALL
    ),
}
"""Language → its strings and comments, to the end of the text if nothing ends them."""
_OPENING: Final = ('"""', "'''", "/*")


def opened_in(lines: Sequence[str], language: str) -> dict[int, str]:
    """Index of each line that begins inside of a string or comment → what opened it: `\"\"\"`, `'''` or `/*`."""
    pattern = _STRINGS.get(language)
    text = "\n".join(lines)
    if pattern is None or not any(opening in text for opening in _OPENING):
        return {}
    ends = [found.start() for found in re.finditer("\n", text)]
    opened: dict[int, str] = {}
    for found in pattern.finditer(text):
        opening = next((one for one in _OPENING if text.startswith(one, found.start())), "")
        if opening:
            first = bisect_left(ends, found.start()) + 1
            last = bisect_left(ends, found.end())
            opened.update(dict.fromkeys(range(first, last + 1), opening))
    return opened
