"""Why two nodes are not fused: the reasons of torch 2.11 to 2.15 and those of this tool, with their meaning and remedy.

A test compares them with the sources of the installed torch.

May not know any compile.
"""

import functools
import re
from typing import Final

from inspect_compile.knowledge.fusion.reasons.backends import BACKENDS
from inspect_compile.knowledge.fusion.reasons.ours import OURS
from inspect_compile.knowledge.fusion.reasons.reason import Reason
from inspect_compile.knowledge.fusion.reasons.scheduler import SCHEDULER
from inspect_compile.knowledge.fusion.reasons.template import TEMPLATE

REASONS: Final[tuple[Reason, ...]] = (*SCHEDULER, *TEMPLATE, *BACKENDS, *OURS)
UNKNOWN: Final = "torch's words: inspect-compile does not know this reason"
_LONGEST_SLUG: Final = 48

_CODES: Final = {reason.code: reason for reason in REASONS}
_TEMPLATES: Final = {template: reason for reason in REASONS for template in reason.templates}


def reason_of(template: str) -> Reason | None:
    """The reason for torch's words before their `%s` are filled in; for an f-string, after."""
    found = _TEMPLATES.get(template)
    if found is not None:
        return found
    return next((reason for parts, reason in _holed() if _fits(parts, template)), None)


def code_of(template: str) -> str:
    """The code of torch's reason `template`; for an unknown one a slug of its words."""
    found = reason_of(template)
    return _slug(template) if found is None else found.code


def by_code(code: str) -> Reason | None:
    """The reason with that code, or with the slug that it had while it was unknown; None if it is unknown now."""
    return _CODES.get(code) or _slugs().get(code)


def words_of(code: str) -> str:
    """The meaning of `code`; empty for an unknown one, for which torch's own words must do."""
    found = by_code(code)
    return "" if found is None else found.meaning


def _slug(template: str) -> str:
    words = re.sub(r"%\w|\{[^{}]*\}|[^a-z0-9]+", "-", template.lower())
    return re.sub(r"-+", "-", words).strip("-")[:_LONGEST_SLUG] or "unknown"


@functools.cache
def _slugs() -> dict[str, Reason]:
    return {_slug(template): reason for template, reason in _TEMPLATES.items()}


@functools.cache
def _holed() -> list[tuple[list[str], Reason]]:
    """The templates with holes as what stands between the holes, the one with most words first."""
    holed = sorted((template for template in _TEMPLATES if "{}" in template), key=len, reverse=True)
    return [(template.split("{}"), _TEMPLATES[template]) for template in holed]


def _fits(parts: list[str], text: str) -> bool:
    """True if the text consists of these parts, in this order, with anything between them."""
    at, end = len(parts[0]), len(text) - len(parts[-1])
    if at > end or not (text.startswith(parts[0]) and text.endswith(parts[-1])):
        return False
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
