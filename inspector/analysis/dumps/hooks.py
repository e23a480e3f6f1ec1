"""The state of inspect-compile's hooks."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Hook


def hooks(dump: Dump) -> list[Hook]:
    """The last row of each hook: one that is turned off writes a row at once and another at the end."""
    return list({(row.probe, row.target): row for row in dump.rows(Hook)}.values())


def disabled(dump: Dump) -> list[Hook]:
    """Hooks that were turned off because they failed, then those that found nothing to watch; `reason` says why."""
    found = [row for row in hooks(dump) if row.state in ("failed", "missing")]
    return sorted(found, key=lambda row: row.state)
