"""The hooks that recorded a dump, and those that could not."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Hook
from inspect_compile.knowledge.versions import release


def hooks(dump: Dump) -> list[Hook]:
    """The last row of each hook: one that is turned off writes a row at once and another at the end."""
    return list({(row.probe, row.target): row for row in dump.rows(Hook)}.values())


def disabled(dump: Dump) -> list[Hook]:
    """Hooks that were turned off because they failed, then those that found nothing to watch; `reason` says why.

    What the run's torch was too old to have is not missed.
    """
    now = dump.run.versions.get("torch", "")
    found = [row for row in hooks(dump) if row.state == "failed" or (row.state == "missing" and _had(now, row.since))]
    return sorted(found, key=lambda row: row.state)


def _had(version: str, since: str) -> bool:
    """Is this version of torch `since` or newer? Also if one of them is not known."""
    now, first = release(version), release(since)
    return not now or not first or now >= first
