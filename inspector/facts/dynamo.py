"""What TorchDynamo did with the user's frames."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class DynamoFact(Fact, frozen=True, kw_only=True):
    """A row of dynamo.jsonl; `graph` holds the compile id `0/0`."""

    table: ClassVar[str] = "dynamo"
    per_graph: ClassVar[bool] = False


class Frame(DynamoFact, frozen=True, kw_only=True, tag="frame"):
    """One attempt to compile one Python frame, written when it ended."""

    function: str
    file: str
    line: Int64
    status: str
    """compiled, no graph (nothing to compile in it), skipped, restarted, failed."""
    attempt: Int64 = 0
    graphs: Int64 = 0
    nodes: Int64 = 0
    seconds: float = 0.0
    reason: str | None = None
    caller: Location | None = None
    guard_seconds: float | None = None
    """One evaluation of its guards, as torch timed it when they were made: its own clock, caches flushed before."""


class Skip(DynamoFact, frozen=True, kw_only=True, tag="skip"):
    """A frame of the program that Dynamo did not try to compile: it runs as it is. Torch 2.11 does not tell these."""

    function: str
    file: str
    line: Int64
    reason: str
    caller: Location | None = None


class GraphBreak(DynamoFact, frozen=True, kw_only=True, tag="graph_break"):
    """A place where one graph ended before the frame did."""

    reason: str
    explanation: str | None = None
    hints: tuple[str, ...] = ()
    where: Location | None = None
    stack: tuple[Location, ...] = ()


class FailedGuard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one earlier compile of a frame had relied on, and what the frame was given instead."""

    compile_id: str
    """Of the earlier compile."""
    condition: str
    """As torch tells it: `n == 0`, `tensor 'x' size mismatch at index 0. expected 8, actual 9`."""
    what: str = ""
    """What is not as it was: `n`, `size of x in dimension 0`, `dtype of x`; empty where torch's text is not known."""
    before: str = ""
    after: str = ""
    """The old and the new value, as far as they can be told without running code of the program."""
    source: str = ""
    """The expression that was looked at, `x`."""
    value: str = ""
    """What it is now: `float32[9, 4]`, `3`; of other objects the class."""
    where: Location | None = None
    """The user's line that made the guard, where torch tells it."""
    hint: str = ""
    """torch's."""


class Recompile(DynamoFact, frozen=True, kw_only=True, tag="recompile"):
    """A frame was compiled again because these guards of the earlier compiles failed."""

    function: str
    file: str
    line: Int64
    reasons: tuple[str, ...]
    """As torch tells them: `0/0: n == 0  # return x * n  # net.py:4 in f`, with a stack trace below."""
    failed: tuple[FailedGuard, ...] = ()
    """The same taken apart, with the values; newest compile first."""

    @property
    def failed_guards(self) -> tuple[str, ...]:
        """Of each reason what failed: `0/0: n == 0`."""
        return tuple(reason.partition("\n")[0].partition("  # ")[0].rstrip() for reason in self.reasons)


class Guard(DynamoFact, frozen=True, kw_only=True, tag="guard"):
    """One condition under which the compiled code is used again."""

    table: ClassVar[str] = "guards"

    kind: str
    source: str
    code: tuple[str, ...] = ()
    where: Location | None = None
    value: str = ""
    """What it looked at when it was made: `float32[8, 4]`; empty where that can't be told."""


class CacheLookup(DynamoFact, frozen=True, kw_only=True, tag="cache"):
    """One look into torch's FX-graph or AOTAutograd cache."""

    cache: str
    outcome: str
    """hit, miss, bypass (torch could not use the cache) or passed over.

    Passed over: we made the look-up miss, so that there is a lowering to watch.
    """
    reason: str | None = None
    stored: bool | None = None
    """Where it was passed over: is there something that torch could have taken? None where that is not known."""
    key: str = ""
    components: dict[str, str] = {}
    """What the key is made of: part → check sum. Two keys differ where these do."""
