"""Texts that torch makes or would print about a compile, under torch's own names for them."""

import traceback
from typing import Final

from inspect_compile.facts import Artifact
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes

LONGEST: Final = 400_000
"""Maximum length of a text, in characters."""


def record_text(probes: Probes, name: str, text: str) -> None:
    """Record a text of the compile on this thread, unless texts are not kept."""
    if probes.keeps_texts:
        left = max(0, len(text) - LONGEST)
        probes.sink.add(Artifact(graph=compile_id() or "", name=name, text=text[:LONGEST], cut=left))


def record_error(probes: Probes, name: str, error: BaseException | None, above: str = "") -> None:
    """Record the traceback of an exception, with what is to stand above it."""
    if error is not None and probes.keeps_texts:
        record_text(probes, name, f"{above}{''.join(traceback.format_exception(error))}")
