"""One SVG that shows several of Rich's, one after the other, and needs no script: it moves in an `<img>`, too.

What does not play it, or is asked for less motion, shows the first one, whole.
"""

import re
from collections.abc import Mapping
from html import escape
from typing import Final, NamedTuple

SECONDS: Final = 5
"""How long each picture is there."""
_COLOUR: Final = re.compile(r"^ *\.(r\d+) \{ (.*) \}$", re.MULTILINE)
_TITLE: Final = re.compile(r'(<text class="title"[^>]*>)(.*?)</text>')
_CLIPS: Final = re.compile(r'<clipPath id="line-\d+">.*?</clipPath>\s*| clip-path="url\(#line-\d+\)"', re.DOTALL)
"""Rich cuts each text off at the ends of its line, where no text of a terminal goes on."""


class _Parts(NamedTuple):
    """A picture: what is above its classes of colours, what is between them and its title, and what it shows."""

    head: str
    colours: dict[str, str]
    """Class → its declarations."""
    frame: str
    title: str
    """Its element's start."""
    content: str


def moving(pictures: Mapping[str, str]) -> str:
    """One picture of several, each of which stays `SECONDS`.

    Args:
        pictures: the title that each has here → an SVG that Rich exported; all of the same size.

    Raises:
        ValueError: they are not of one size, or one has no title.
    """
    parts = [_parts(picture) for picture in pictures.values()]
    head, frame = parts[0].head, parts[0].frame
    if any((part.head, part.frame) != (head, frame) for part in parts):
        msg = "pictures of several sizes"
        raise ValueError(msg)
    classes: dict[str, str] = {}
    shown = []
    for index, (title, part) in enumerate(zip(pictures, parts, strict=True)):
        new = {name: classes.setdefault(rule, f"c{len(classes)}") for name, rule in part.colours.items()}
        hidden = ' opacity="0"' if index else ""
        shown.append(
            f'<g class="picture" style="animation-delay:{index * SECONDS}s"{hidden}>'
            f"{part.title}{escape(title, quote=False)}</text>{_renamed(part.content, new)}</g>"
        )
    colours = "\n".join(f".{name} {{ {rule} }}" for rule, name in classes.items())
    return f"{head}{colours}\n{_turns(len(parts))}{frame}{''.join(shown)}\n</svg>\n"


def _renamed(content: str, names: Mapping[str, str]) -> str:
    """What it shows, its classes by other names."""
    return re.sub(r'class="(r\d+)"', lambda found: f'class="{names[found[1]]}"', content)


def _turns(pictures: int) -> str:
    """The style that shows one of them at a time."""
    return f"""
@media (prefers-reduced-motion: no-preference) {{
    .picture {{ animation: turn {pictures * SECONDS}s step-end infinite }}
    @keyframes turn {{ 0% {{ opacity: 1 }} {100 / pictures:g}%, 100% {{ opacity: 0 }} }}
}}
"""


def _parts(picture: str) -> _Parts:
    colours = dict(_COLOUR.findall(picture))
    head, _, rest = picture.partition("    .r1 {")
    _, style_end, rest = rest.partition("    </style>")
    title = _TITLE.search(rest)
    if title is None:
        msg = "a picture without a title"
        raise ValueError(msg)
    content = rest[title.end() :].rpartition("</svg>")[0]
    return _Parts(head, colours, _CLIPS.sub("", style_end + rest[: title.start()]), title[1], _CLIPS.sub("", content))
