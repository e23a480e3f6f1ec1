"""Findings about a library's code, which its user cannot change: the advice is about the user's call of it."""

import itertools
import re
from pathlib import Path
from typing import Final

import msgspec

from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.facts import Location
from inspect_compile.knowledge.frontend.own_code import is_library, library_of
from inspect_compile.knowledge.overview.findings import (
    BREAK,
    BREAK_DDP,
    BREAK_LIBRARY,
    COPY,
    FALLBACK,
    LIBRARY,
    MISSED_FUSION,
    WORDS,
)

_ABOUT_CODE: Final = (BREAK, MISSED_FUSION, COPY, FALLBACK)
"""Kinds whose advice is to write the lines of the finding in another way."""
_DDP: Final = re.compile(r"(?:^|[/\\])torch[/\\]nn[/\\]parallel[/\\]distributed\.py$")
_DDP_CLASS: Final = "DistributedDataParallel"


def for_its_user(row: Finding) -> Finding:
    """The finding with advice that its reader can follow; as it is where one of its lines is the user's own."""
    places = [part.where for part in row.parts if part.where is not None]
    if row.kind not in _ABOUT_CODE or not places or not all(is_library(where.file) for where in places):
        return row
    chain = list(places[0].calls())
    inside = list(itertools.takewhile(lambda one: is_library(one.file), chain))
    words = LIBRARY
    if row.kind == BREAK:
        is_ddp = _DDP_CLASS in row.why or any(_DDP.search(one.file) for one in inside)
        words = BREAK_DDP if is_ddp else BREAK_LIBRARY
    to_do = WORDS[words].to_do.format(library=library_of(inside[-1].file), call=_call(chain[len(inside) :]))
    if row.is_torchs:  # a setting, which needs no change of the code
        return msgspec.structs.replace(row, instead=to_do)
    return msgspec.structs.replace(row, to_do=to_do, instead="")


def _call(outside: list[Location]) -> str:
    return f"{Path(outside[0].file).name}:{outside[0].line}" if outside else "an unknown line"
