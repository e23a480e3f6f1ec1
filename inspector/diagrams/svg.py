"""SVG that is written directly, where Graphviz cannot draw: everything from a dump is escaped here."""

from collections.abc import Iterable
from html import escape

from inspect_compile.diagrams.look import DARK, FONT, INK, PAPER
from inspect_compile.tables.text import clean, unbroken


def document(width: int, height: int, parts: Iterable[str], *, size: int) -> str:
    """A picture on paper; `size` is that of its font."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}" font-size="{size}">'
    )
    style = f"<style>{DARK}</style>"
    return "\n".join((head, style, f'<rect width="{width}" height="{height}" fill="{PAPER}"/>', *parts, "</svg>", ""))


def text(x: float, y: float, words: str, *, fill: str = INK, size: int = 0, weight: str = "", anchor: str = "") -> str:
    """Words on one line."""
    more = _given({"font-size": size, "font-weight": weight, "text-anchor": anchor})
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{more}>{escape(unbroken(words))}</text>'


def line(x: float, y: float, to_x: float, to_y: float, stroke: str, *, width: int = 0, dash: str = "") -> str:
    """A straight line."""
    more = _given({"stroke-width": width, "stroke-dasharray": dash})
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{stroke}"{more}/>'


def tip(words: str) -> str:
    """What is shown while the mouse is over an element."""
    return f"<title>{escape(clean(words))}</title>"


def _given(attributes: dict[str, int | str]) -> str:
    return "".join(f' {name}="{value}"' for name, value in attributes.items() if value)
