"""HTML of the page that is deflated until somebody looks at it: what is long, and seldom read as a whole.

The page's script inflates it (`packs.js`); without a script a sentence stands in its place, with the command that shows
the same.
"""

import base64
import re
import zlib
from collections.abc import Sequence
from typing import Final

from inspect_compile.report.markup import Markup, element, joined

PLAIN: Final = 24_000
"""Maximum size of a part that stands in the page as it is, in characters."""

PLAIN_OF_MANY: Final = 60_000
"""Maximum size of what stands as it is of many parts below each other."""
_PACK: Final = re.compile(
    r'(</tbody></table>)?<noscript><p class="dim">[^<]*</p></noscript>'
    r'<template class="pack" data-kind="(?:html|rows)">([A-Za-z0-9+/=]*)</template>'
)


def packed(html: Markup, instead: str, kind: str = "html") -> Markup:
    """`html`, or what the script makes it of if it is long. `instead` is said without a script."""
    return html if len(html) <= PLAIN else _always_packed(html, instead, kind)


def first_plain(parts: Sequence[Markup], instead: str) -> Sequence[Markup]:
    """Parts that stand below each other: the first ones as they are, at least one, and the others packed together."""
    size = 0
    for place, part in enumerate(parts):
        size += len(part.partition("<template")[0])
        if size > PLAIN_OF_MANY and place:
            return [*parts[:place], _always_packed(joined(*parts[place:], between="\n"), instead, "html")]
    return parts


def _always_packed(html: Markup, instead: str, kind: str) -> Markup:
    """`kind` is what the script does with it: put it here, or `rows` into the table."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = deflate.compress(html.encode("utf-8", "replace")) + deflate.flush()
    text = Markup(base64.b64encode(data).decode("ascii"))
    said = element("noscript", element("p", f"{instead} (needs JavaScript)", class_="dim"))
    return Markup(f'{said}<template class="pack" data-kind="{kind}">{text}</template>')


def unpacked(page: str) -> str:
    """A page of ours with everything unpacked, as its script does it: what is searched for what must not be in it."""
    count = 1
    while count:
        page, count = _PACK.subn(_html_of, page)
    return page


def _html_of(found: re.Match[str]) -> str:
    html = zlib.decompress(base64.b64decode(found[2]), -15).decode("utf-8")
    return f"{html}{found[1] or ''}"
