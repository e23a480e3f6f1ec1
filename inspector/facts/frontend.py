"""What TorchDynamo did with the user's frames, and the calls from there to the code that runs."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class DynamoFact(Fact, frozen=True, kw_only=True):
    """A row of dynamo.jsonl; `graph` holds the compile id `0/0`."""

    table: ClassVar[str] = "dynamo"
    per_graph: ClassVar[bool] = False


class Frame(DynamoFact, frozen=True, kw_only=True, tag="frame"):
    """One attempt to compile a Python frame, written when it ended."""

    function: str
    file: str
    line: Int64
    status: str
    """compiled, no graph (nothing to compile in it), skipped, restarted or failed."""
    attempt: Int64 = 0
    graphs: Int64 = 0
    nodes: Int64 = 0
    seconds: float = 0.0
    reason: str | None = None
    caller: Location | None = None
    guard_seconds: float | None = None
    """Time of one evaluation of its guards, as torch measured it when they were made, with caches flushed."""
    failed_at: Location | None = None
    """For an attempt that failed, the line that torch names."""
    dynamic: str = ""
    """torch.compile's `dynamic`, or a setting like it: `True`, `False`; empty where torch decides by what changes."""
    limit: str = ""
    """The setting whose limit earlier compiles had reached, so that it was not compiled: `recompile_limit`."""


class Skip(DynamoFact, frozen=True, kw_only=True, tag="skip"):
    """A frame of the program that Dynamo did not try to compile: it runs as it is. Not reported by torch 2.11."""

    function: str
    file: str
    line: Int64
    reason: str
    caller: Location | None = None


class GuardedCalls(DynamoFact, frozen=True, kw_only=True, tag="guarded_calls"):
    """How often functions were called that Dynamo had looked at before, and their rests after graph breaks."""

    checked: Int64
    """Calls for which torch checked guards."""
    fitted: Int64
    """Of these, calls that fitted a compile, which ran."""
    attempts: Int64
    """Of these, calls that led to an attempt to compile the frame again."""
    limited: Int64
    """Of these attempts, those that a limit ended: the call ran eagerly."""
    skipped: Int64 = 0
    """Calls that are not among `checked`, of functions given to torch.compile that Dynamo had skipped."""
    disabled: Int64 = 0
    """Calls that are not among `checked`, of functions under `torch.compiler.disable`, wherever they were called."""
    uncounted: Int64 = 0
    """Functions that run eagerly and whose calls are counted nowhere: those that Dynamo skips and that torch.compile
    was not given, rests after graph breaks too, and those of `torch.compiler.disable(recursive=False)`.
    """

    @property
    def beyond_limit(self) -> int:
        """Calls that fitted no compile and ran eagerly, because no more compiles are made."""
        return self.checked - self.fitted - self.attempts + self.limited


class GraphBreak(DynamoFact, frozen=True, kw_only=True, tag="graph_break"):
    """A place where one graph ended before the frame did."""

    reason: str
    explanation: str | None = None
    hints: tuple[str, ...] = ()
    where: Location | None = None
    stack: tuple[Location, ...] = ()


class SideEffect(DynamoFact, frozen=True, kw_only=True, tag="side_effect"):
    """A change of an object of the program's that Dynamo took out of the graph, and makes after it."""

    source: str
    """What is changed, in torch's words: `L['self']`, `G['SEEN']`; empty for an object that the frame itself made."""
    type: str
    """Its class."""
    lines: tuple[Location, ...] = ()
    """The lines that change it, each once."""


class ShapeGuard(DynamoFact, frozen=True, kw_only=True, tag="shape_guard"):
    """A condition on symbolic sizes that was added while a frame was compiled, or a symbol that became a number."""

    what: str
    """guard or specialization."""
    expression: str
    """`s77 <= 2`; for a specialization `s77 == 4`."""
    sources: tuple[str, ...] = ()
    """What its symbols stand for: `s77 = L['x'].size()[0]`."""
    reason: str = ""
    """torch's word for how it came about: `eval`, `runtime_assert`, `range_refined_to_singleton`."""
    where: Location | None = None
    """The line that was traced."""


class FailedGuard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one earlier compile of a frame had relied on, and the value that failed it."""

    compile_id: str
    """The compile id of the earlier compile."""
    condition: str
    """torch's words: `n == 0`, `tensor 'x' size mismatch at index 0. expected 8, actual 9`."""
    what: str = ""
    """What has changed: `n`, `size of x in dimension 0`, `dtype of x`; empty if torch's text is not known."""
    before: str = ""
    after: str = ""
    """The old and the new value, if they can be described without running the program's code."""
    source: str = ""
    """The expression that was checked, `x`."""
    value: str = ""
    """Its value now: `float32[9, 4]`, `3`; the class of other objects."""
    where: Location | None = None
    """The source line that made the guard, if torch names it."""
    hint: str = ""
    """torch's hint."""
    holder: str = ""
    """Class of the object whose attribute it is; empty for an argument or a global."""
    is_of_module: bool = False
    """Whether that object is an nn.Module."""
    is_of_another: bool = False
    """Whether the outermost object, such as `self`, is another one than when the earlier compile was made."""


class Recompile(DynamoFact, frozen=True, kw_only=True, tag="recompile"):
    """A frame was compiled again because these guards of the earlier compiles failed."""

    function: str
    file: str
    line: Int64
    reasons: tuple[str, ...]
    """torch's words: `0/0: n == 0 # return x * n # net.py:4 in f`, followed by a stack trace."""
    failed: tuple[FailedGuard, ...] = ()
    """The same parsed, with the values; newest compile first."""

    @property
    def failed_guards(self) -> tuple[str, ...]:
        """What failed, for each reason: `0/0: n == 0`."""
        return tuple(reason.partition("\n")[0].partition("  # ")[0].rstrip() for reason in self.reasons)


class Guard(DynamoFact, frozen=True, kw_only=True, tag="guard"):
    """One condition under which the compiled code is reused."""

    table: ClassVar[str] = "guards"

    kind: str
    source: str
    code: tuple[str, ...] = ()
    where: Location | None = None
    value: str = ""
    """The value that it checked when it was made: `float32[8, 4]`; empty if not known."""


class Call(Fact, frozen=True, kw_only=True, tag="call"):
    """One function that a graph passed through; `graph` holds the compile id, if there is one."""

    table: ClassVar[str] = "calls"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Index among all calls of the process, in the order in which they began."""
    parent: Int64 | None
    """The caller; None for the first call of a compile, and for a backward that is compiled later."""
    stage: str
    """backend, compile_fx, aot_autograd, joint, partition, inference, forward, backward, inner, lowering, load,
    codegen, scheduler, wrapper or cudagraphs."""
    function: str
    """`compile_fx`; for a backend, the program's name of it."""
    defined: str
    """`torch/_inductor/compile_fx.py:2685`."""
    received: str
    """Its input: `GraphModule, 5 nodes, 3 inputs`."""
    returned: str = ""
    """Its output: `call /tmp/…/cab.py:90`, `GraphLowering, 4 operations, 4 buffers`."""
    inductor_graph: str | None = None
    """The graph's name, once Inductor has given it one."""
    seconds: float = 0.0
    """Duration, including the calls inside it."""
    error: str | None = None
    """The exception that it raised."""
    note: str = ""
    """What else affects the output: options, compilers that were passed on, why CUDA graphs are off."""
