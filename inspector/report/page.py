"""Puts the page together: one file that loads nothing, and runs nothing but the script that it was made with."""

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources
from typing import Final

from inspect_compile import __version__
from inspect_compile.report.markup import Markup, element, joined
from inspect_compile.report.sections import Section

_NOTE: Final = (
    "JavaScript is off: overview, findings, compiles and the beginning of each table are listed below. With it, long"
    " tables, code, pictures and texts appear, tables sort and filter, and lines highlight what belongs to them."
)
SCRIPTS: Final = ("base", "packs", "tables", "places", "code", "pictures", "search", "commands", "keys", "start")
"""The parts of the page's script, each in a file of its own, in the order in which they stand in the page."""


def page(title: str, about: Iterable[str], sections: Iterable[Section], dump: str = "") -> str:
    """The whole file. `title` and `about` stand above all sections; `dump` is how commands name the dump."""
    style = _asset("page.css")
    script = '"use strict";\n' + "".join(_asset("script", f"{name}.js") for name in SCRIPTS)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # The policy stands first: it holds for what comes after it.
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        element("title", f"{title} · inspect-compile"),
        Markup(f"<style>{style}</style>"),
        Markup(f"<script>{script}</script>"),
        between="\n",
    )
    found = list(sections)
    links = (
        element(
            "a", one.title, *([" ", element("i", one.badge, class_="bad")] if one.badge else []), href=f"#{one.name}"
        )
        for one in found
    )
    top = element(
        "header",
        element("h1", title),
        *(element("p", line, class_="dim") for line in about),
        element("nav", *links, aria_label="Sections"),
        element("noscript", element("p", _NOTE)),
    )
    shown = (
        element(
            "section",
            element("h2", one.title, tabindex="-1"),
            *(joined(block, "\n") for block in one.blocks),
            id=one.name,
            class_="on" if one is found[0] else None,
        )
        for one in found
    )
    foot = element("footer", f"inspect-compile {__version__}", class_="dim")
    body = joined(top, element("main", *shown, data_dump=dump or None), foot, between="\n")
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _asset(*path: str) -> str:
    """A file of the page's own; line ends are those that an HTML parser makes of any."""
    return resources.files(__package__).joinpath(*path).read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"
