"""What TorchDynamo did with the user's frames."""

from typing import ClassVar

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


class GraphBreak(DynamoFact, frozen=True, kw_only=True, tag="graph_break"):
    """A place where one graph ended before the frame did."""

    reason: str
    explanation: str | None = None
    hints: tuple[str, ...] = ()
    where: Location | None = None
    stack: tuple[Location, ...] = ()


class Recompile(DynamoFact, frozen=True, kw_only=True, tag="recompile"):
    """A frame was compiled again because these guards of the earlier compiles failed."""

    function: str
    file: str
    line: Int64
    reasons: tuple[str, ...]
    """As torch tells them: `0/0: n == 0  # return x * n  # net.py:4 in f`, with a stack trace below."""

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


class CacheLookup(DynamoFact, frozen=True, kw_only=True, tag="cache"):
    """One look into torch's FX-graph or AOTAutograd cache."""

    cache: str
    outcome: str
    """hit, miss, bypass (torch could not use the cache) or passed over.

    Passed over: we made the look-up miss, so that there is a lowering to watch.
    """
    reason: str | None = None
