"""How our own probes fared."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Hook


def hooks(dump: Dump) -> list[Hook]:
    """The last word on each hook: one that stood aside says so at once, and once more at the end."""
    return list({(row.probe, row.target): row for row in dump.rows(Hook)}.values())


def stood_aside(dump: Dump) -> list[Hook]:
    """Those that failed, then those that found nothing to watch; `reason` says why."""
    found = [row for row in hooks(dump) if row.state in ("failed", "missing")]
    return sorted(found, key=lambda row: row.state)
