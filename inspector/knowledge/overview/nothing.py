"""Why a run has no graph, and what to do, in one place for the closing lines of a run and for every view."""

from typing import Final, NamedTuple

from inspect_compile.knowledge.overview.compiler_errors import errors_in

NOT_COMPILED: Final = ("target-not-sent", "target-failed")
"""Codes of the remarks that say why a graph was not compiled for a target."""


COMPILED_NOTHING: Final = "nothing was compiled"
RECORDS: Final = "pip install 'inspect-compile[record]'"
"""What makes an environment one that can record."""
_NOT_BY_INDUCTOR: Final = "no graph reached Inductor"
_MOST_NAMED: Final = 3


class Seen(NamedTuple):
    """What was recorded instead of a graph."""

    failure: str | None = None
    """The exception of the last compile that failed."""
    refused: tuple[str, ...] = ()
    """The messages of remarks that say why a graph was not compiled for a target."""
    is_cached: bool = False
    """Whether torch took a graph from one of its caches."""
    keeps_caches: bool = True
    """Whether its caches worked as in a plain run (`--cache keep`)."""
    is_elsewhere: bool = False
    """Whether other processes of the run compiled."""
    frames: int = 0
    """Number of frames that Dynamo looked at."""
    compiled: int = 0
    """Number of those that it compiled."""
    loaded: tuple[tuple[str, str], ...] = ()
    """Calls that loaded what was compiled before, and the program's lines."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Function and exception of each frame that Dynamo left to Python, if it compiled none."""
    saw_torch: bool = True
    lacks_torch: bool = False
    """Whether the program ended because there is no torch to import."""
    is_unwatched: bool = False
    """Whether torch was loaded although nothing was watched."""
    is_recorded: bool = True
    """Whether the run itself recorded at its end that it left no graph."""
    is_growing: bool = False
    """Whether the program still runs."""
    lacking: tuple[str, ...] = ()
    """Tables that the run left and that are missing or shorter now."""


class Why(NamedTuple):
    """The reason, and where to read more."""

    text: str
    """A clause, without a full stop."""
    to_do: str = ""
    table: str = ""
    """The table of `show` with the evidence."""
    head: str = COMPILED_NOTHING
    """What is certain, before the reason."""


def why_nothing(seen: Seen) -> Why:
    """The reason: what is certain (an exception, a refusal) comes before what is only plausible.

    That nothing was compiled is said only if the run recorded it.
    """
    if seen.lacking:
        more = len(seen.lacking) - _MOST_NAMED
        names = ", ".join(seen.lacking[:_MOST_NAMED]) + (f" and {more} more tables" if more > 0 else "")
        are = "is" if len(seen.lacking) == 1 else "are"
        return Why(f"{names} {are} missing or cut short", "copy it again", head="this dump is not complete")
    why = _why_nothing(seen)
    if seen.is_growing:
        return why._replace(head="nothing has been compiled yet")
    if seen.compiled:
        return why._replace(head=_NOT_BY_INDUCTOR)
    return why if seen.is_recorded else why._replace(head="no graph is recorded")


def _why_nothing(seen: Seen) -> Why:
    compiled = f"Dynamo compiled {seen.compiled:,} frame{'s' * (seen.compiled != 1)}"
    if seen.failure is not None:
        failed = f"a compile failed: {first_line(seen.failure)}"
        besides = f", and {compiled} for another backend" if seen.compiled else ""
        return Why(f"{failed}{besides}", advice_for(seen.failure) or "", "dynamo")
    if seen.refused:
        first, *others = dict.fromkeys(seen.refused)
        return Why(first + (f", and so {len(others)} more" if others else ""), table="remarks")
    if seen.is_elsewhere:
        return Why("this process compiled nothing, but other processes of the run did")
    if seen.lacks_torch:
        return Why("torch is not installed in the environment of the program", f"install it: {RECORDS}")
    if not seen.saw_torch:
        unseen = "torch was loaded by an importer of the program's own, and could not be recorded"
        return Why(unseen if seen.is_unwatched else "the program never imported torch")
    if seen.is_cached and not seen.keeps_caches:
        return Why("the program loaded what had been compiled before", table="caches")
    if seen.is_cached:
        return Why("every graph came from torch's caches", "run without --cache keep to record the compiles")
    if seen.skipped:
        function, reason = seen.skipped[0]
        more = len(set(seen.skipped)) - 1
        also = f", and {more} more frame{'s' * (more != 1)}" if more else ""
        because = first_line(reason).removeprefix("Unsupported: ")
        return Why(f"Dynamo skipped {function}: {because}{also}", table="dynamo")
    if seen.compiled:
        return Why(f"{compiled}, and {_NOT_BY_INDUCTOR} (another backend)", table="dynamo")
    if seen.frames:
        looked = f"Dynamo looked at {seen.frames:,} frame{'s' * (seen.frames != 1)}"
        return Why(f"{looked}, and {_NOT_BY_INDUCTOR} (another backend, or nothing to compile)", table="dynamo")
    if seen.loaded:
        call, place = seen.loaded[0]
        more = len(seen.loaded) - 1
        at = f"{place} loaded" if place else "the program loaded"
        also = f", and {more} more call{'s' * (more != 1)} did" if more else ""
        to_do = "`inspect-compile open PACKAGE` shows what is in an AOTInductor package"
        return Why(f"{at} what had been compiled before ({call}){also}", to_do, "time")
    if not seen.is_recorded:
        return Why("the run did not record whether it compiled any")
    return Why(
        "torch.compile was never called, or its result never ran, or had been compiled before",
        "`inspect-compile doctor` checks whether compiling works here",
    )


def in_one_line(why: Why) -> str:
    """The reason, and what to do."""
    return f"{why.text}; {why.to_do}" if why.to_do else why.text


def first_line(exception: str) -> str:
    """The most informative line: torch wraps an exception in one with the text `backend='inductor' raised:`."""
    lines = [line.strip() for line in exception.splitlines() if line.strip()] or [""]
    if (error := next(iter(errors_in(exception)), None)) is not None:
        return f"{lines[0]}: {error.message}"
    return lines[1] if lines[0].endswith("raised:") and len(lines) > 1 else lines[0]


ADVICE: Final[tuple[tuple[str, str], ...]] = (
    ("InvalidCxxCompiler", "install a C++ compiler (Debian: apt-get install g++), or name one in CXX"),
    ("No working C++ compiler", "install a C++ compiler (Debian: apt-get install g++), or name one in CXX"),
    ("Python.h", "install Python's headers (Debian: apt-get install python3-dev)"),
    ("TritonMissing", "install triton (pip install triton)"),
    ("working triton installation", "install triton (pip install triton)"),
)
"""(a part of the exception's text, what to do) where something is missing here. Source: messages of torch 2.13."""


def advice_for(exception: str) -> str | None:
    """What to do about `exception`, or None if nothing is known."""
    return next((advice for part, advice in ADVICE if part in exception), None)
