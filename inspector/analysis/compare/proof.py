"""What comes back of a difference if the new environment has settings of the old one."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.compare.call_times import call_times, spread
from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.analysis.compare.upgrade import Assigned, upgrade
from inspect_compile.dump import Dump

Plain = bool | int | float | str | None

_NOT_OF_CODE: Final = re.compile(
    r"cache|debug|trace|verbose|dir$|path$|_log|logging|worker|compile_threads|error_on|repro|test|autotune_in_subproc"
)
"""Settings that decide over other things than the generated code, or depend on the machine."""


class Proof(msgspec.Struct, frozen=True, tag_field="fact", tag="upgrade_proof"):
    """The new environment once more, with other settings. `upgrade --json` prints this after the shares."""

    settings: dict[str, str]
    """Name → `new value → old value`."""
    seconds: float | None
    """Of one call of each graph, as `seconds` of `upgrade`; None if not measured."""
    spread: float | None
    """How far the runs with these settings are apart."""
    back: float | None
    """Which part of the difference of time came back; None without one that is known to be more than noise."""
    gone: tuple[str, ...]
    """The causes that are no longer there: `fusion at model.py:12`."""
    left: int
    """How many still are."""


def old_settings(old: Mapping[str, Plain], new: Mapping[str, Plain]) -> dict[str, Plain]:
    """The settings that both environments have, with another value, and that can decide over generated code: as in the
    old one.
    """
    return {
        name: value
        for name, value in old.items()
        if name in new and new[name] != value and type(new[name]) is type(value) and not _NOT_OF_CODE.search(name)
    }


def proof(
    found: Assigned, old: Sequence[Dump], back: Sequence[Dump], settings: Mapping[str, str], names: tuple[str, str]
) -> Proof:
    """Compare the runs with these settings with those of the old environment."""
    again = upgrade(old, back, names)
    before, after = found.whole.seconds
    seconds = again.whole.seconds[1]
    timed = [times.whole for dump in back if (times := call_times(dump)) is not None]
    came = None
    if before is not None and after is not None and seconds is not None and found.whole.is_noise is False:
        came = (after - seconds) / (after - before)
    still = {_identity(cause) for cause in again.causes}
    gone = [cause for cause in found.causes if _identity(cause) not in still]
    return Proof(
        settings=dict(settings),
        seconds=seconds,
        spread=spread(timed) if timed else None,
        back=came,
        gone=tuple(cause.label for cause in gone),
        left=len(found.causes) - len(gone),
    )


def _identity(cause: Cause) -> tuple[str, str, str, int]:
    where = cause.where
    return cause.level, cause.what, "" if where is None else where.file, 0 if where is None else where.line
