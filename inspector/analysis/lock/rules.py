"""The rules of what may differ from a contract: one short text each.

`no change`, `no change in METRIC`, `ignore METRIC`, `METRIC[.KIND] <= VALUE`, `no METRIC [NAME]`, `fused(A, B, …)`.
A VALUE is a number (`12`, `1.5 GB`), or a multiple of what the contract has (`1.02x`).
"""

import difflib
import re
from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.lock.metrics import FORBIDDABLE, KINDS, METRICS

_COMPARED: Final = re.compile(r"(?P<metric>[\w.]+)\s*(?P<op><=|>=|==|=|<|>)\s*(?P<value>.*)")
_VALUE: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?(?:e\d{1,2})?)\s*(?P<unit>x|[kKMGT]?(?:B|FLOP)?)", re.IGNORECASE)
_FUSED: Final = re.compile(r"fused\s*\((?P<parts>.*)\)")
_SCALES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
FORMS: Final = (
    "`no change`, `no change in METRIC`, `ignore METRIC`, `METRIC <= 12`, `METRIC.forward <= 1.02x`,"
    " `no fallback NAME`, `fused(A, B)`"
)

DEFAULT: Final = ("no change", "bytes <= 1.02x", "peak <= 1.02x", "ignore choices")
"""The rules of a new contract."""


class RuleError(ValueError):
    """A rule that cannot be read: which one, and what would be right."""


class NoChange(msgspec.Struct, frozen=True):
    """A metric, or all for an empty name, stays as it was."""

    text: str
    metric: str = ""
    kind: str = ""


class Ignore(msgspec.Struct, frozen=True):
    """A metric may be anything."""

    text: str
    metric: str
    kind: str = ""


class Bound(msgspec.Struct, frozen=True):
    """A metric is held against a number, or against a multiple of what it was."""

    text: str
    metric: str
    kind: str
    operation: str
    """<=, <, =, >= or >."""
    value: float
    is_multiple: bool

    def holds(self, found: float, before: float) -> bool:
        """True if `found` is within the bound; `before` is the contract's number."""
        limit = self.value * before if self.is_multiple else self.value
        return {
            "<=": found <= limit,
            "<": found < limit,
            "=": found == limit,
            ">=": found >= limit,
            ">": found > limit,
        }[self.operation]


class Forbidden(msgspec.Struct, frozen=True):
    """Nothing of a metric may be there, or nothing with this name."""

    text: str
    metric: str
    name: str = ""


class Together(msgspec.Struct, frozen=True):
    """One loop nest has all of these: operators, or lines of the program."""

    text: str
    parts: tuple[str, ...]


Rule = NoChange | Ignore | Bound | Forbidden | Together


def parsed(texts: Iterable[str]) -> tuple[Rule, ...]:
    """The rules in their order. Raises RuleError."""
    return tuple(rule(text) for text in texts)


def rule(text: str) -> Rule:
    """Parse one rule. Raises RuleError."""
    words = text.split()
    if words[:2] == ["no", "change"]:
        return _no_change(text, words[2:])
    if words[:1] == ["ignore"]:
        if len(words) != 2:
            raise RuleError(f"rule {text!r}: ignore which one metric? {_there()}")
        return Ignore(text, *_metric(text, words[1]))
    if words[:1] == ["no"]:
        if len(words) < 2:
            raise RuleError(f"rule {text!r}: `no` of what? {', '.join(FORBIDDABLE)}, and a name for only that one")
        metric, kind = _metric(text, words[1])
        if metric not in FORBIDDABLE or kind:
            raise RuleError(f"rule {text!r}: `no` can be about {', '.join(FORBIDDABLE)}")
        return Forbidden(text, metric, " ".join(words[2:]))
    if found := _FUSED.fullmatch(text.strip()):
        parts = tuple(part.strip() for part in found["parts"].split(",") if part.strip())
        if len(parts) < 2:
            raise RuleError(f"rule {text!r}: fused with what? Name two or more operators or lines: fused(a.py:1, gelu)")
        return Together(text, parts)
    return _bound(text)


def _no_change(text: str, words: list[str]) -> NoChange:
    if not words:
        return NoChange(text)
    if len(words) != 2 or words[0] != "in":
        raise RuleError(f"rule {text!r}: write `no change`, or `no change in METRIC`")
    return NoChange(text, *_metric(text, words[1]))


def _bound(text: str) -> Bound:
    found = _COMPARED.fullmatch(text.strip())
    if found is None:
        raise RuleError(f"rule {text!r} is not known; a rule is one of {FORMS}")
    metric, kind = _metric(text, found["metric"])
    if metric in ("status", "cudagraphs"):
        raise RuleError(f"rule {text!r}: {metric} is not a number; write `no change in {metric}` or `ignore {metric}`")
    value = _VALUE.fullmatch(found["value"].strip())
    if value is None:
        raise RuleError(f"rule {text!r}: {found['value']!r} is not a value; write 12, 1.5 GB, or 1.02x of what it was")
    operation = found["op"].replace("==", "=")
    if value["unit"].lower() == "x":
        return Bound(text, metric, kind, operation, float(value["number"]), is_multiple=True)
    scale = value["unit"].lower().removesuffix("flop").removesuffix("b")
    return Bound(text, metric, kind, operation, float(value["number"]) * _SCALES[scale], is_multiple=False)


def _metric(text: str, name: str) -> tuple[str, str]:
    """The metric and the kind of graph that `kernels.forward` names."""
    metric, _, kind = name.partition(".")
    metric = {"fallbacks": "fallback", "graph_break": "graph_breaks", "recompile": "recompiles"}.get(metric, metric)
    if metric not in METRICS:
        near = difflib.get_close_matches(metric, METRICS, 1)
        raise RuleError(f"rule {text!r}: no metric {metric!r}; {f'is {near[0]} meant?' if near else _there()}")
    if kind and kind not in KINDS:
        raise RuleError(f"rule {text!r}: no kind of graph {kind!r}; there are {', '.join(KINDS)}")
    if kind and METRICS[metric].of not in ("graph", "machine"):
        raise RuleError(f"rule {text!r}: {metric} is counted in functions, not in graphs; leave out .{kind}")
    return metric, kind


def _there() -> str:
    return f"there are {', '.join(METRICS)}"
