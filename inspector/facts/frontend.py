"""What TorchDynamo did with the user's frames, and the calls from there to the code that runs."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location


class DynamoFact(Fact, frozen=True, kw_only=True):
    """A row of dynamo.jsonl; `graph` holds the compile id `0/0`."""

    table: ClassVar[str] = "dynamo"
    per_graph: ClassVar[bool] = False


class Frame(DynamoFact, frozen=True, kw_only=True, tag="frame"):
    """A compile of a Python frame, written when it ended.

    `graph` holds the compile id.
    """

    function: str
    """The frame's function."""
    file: str
    """Its file."""
    line: Int64
    """The line that it begins at."""
    status: str
    """`compiled`, `no graph` (nothing to compile in it), `skipped`, `failed`; of a log also `unfinished`."""
    restarts: tuple[str, ...] = ()
    """Why Dynamo began it anew before it came to this end: each reason once, in the order of the alphabet."""
    graphs: Int64 = 0
    """How many graphs came of it."""
    nodes: Int64 = 0
    """How many FX nodes these have."""
    seconds: float = 0.0
    """Seconds that the attempt took."""
    reason: str | None = None
    """Of a frame that was not compiled."""
    caller: Location | None = None
    """Who called it; for the rest of a function behind a graph break the line that ended the part before."""
    within: Location | None = None
    """Where its caller is not known: the nearest frame above it in torch's own log, which leaves out some between."""
    module: str = ""
    """Of a method of an nn.Module, or of a function that one calls, that module's path in the outermost one that was
    being called: `layers.0.mlp`. Empty for the outermost one, and where it is not known.
    """
    guard_seconds: float | None = None
    """One check of its guards, as torch times it in every compile, right after it has flushed the caches: calls in a
    loop pay less. What it takes to enter the compiled code is not measured.
    """
    failed_at: Location | None = None
    """Of an attempt that failed, the line that torch names; else None."""
    dynamic: str = ""
    """torch.compile's `dynamic`, or a setting like it: `True`, `False`; empty where torch decides by what changes."""
    limit: str = ""
    """The setting whose limit earlier compiles had reached, so that it was not compiled: `recompile_limit`; else empty.
    """


class Skip(DynamoFact, frozen=True, kw_only=True, tag="skip"):
    """A frame of the program that Dynamo did not try to compile, or gave up without a graph: it runs as it is.

    Torch up to 2.12 does not tell these; those of Python's and of installed packages' own files are left out.

    `graph` is empty.
    """

    function: str
    """The frame's function."""
    file: str
    """Its file."""
    line: Int64
    """The line that it begins at."""
    reason: str
    """torch's words."""
    caller: Location | None = None
    """Who called it."""


class GuardedCalls(DynamoFact, frozen=True, kw_only=True, tag="guarded_calls"):
    """How often functions were called that Dynamo had looked at before, and their rests after graph breaks.

    Missing where a hook of the program's own took the place of the one that counts, and where one of ours failed.

    `graph` is empty.
    """

    checked: Int64
    """Calls for which torch checked guards, of functions and of their rests after graph breaks: all but the first of
    each, and none of functions that it skips.
    """
    fitted: Int64
    """Of these, calls that fitted a compile, which ran."""
    attempts: Int64
    """Of these, calls that led to an attempt to compile the frame again."""
    limited: Int64
    """Of these attempts, those that a limit ended, so that the call ran eagerly. What is left of `checked` ran eagerly,
    too.
    """
    skipped: Int64 = 0
    """Calls that are not among `checked`: of functions given to torch.compile that failed to compile or were skipped,
    after the call in which they were. Of another function that Dynamo skips, such as one that is called at a graph
    break, nobody is told.
    """
    disabled: Int64 = 0
    """Calls that are not among `checked`: of functions under `torch.compiler.disable` that are not torch's, wherever
    they were called; not with `recursive=False`.
    """
    uncounted: Int64 = 0
    """Functions that run eagerly and whose calls are counted nowhere: those that Dynamo skips and that torch.compile
    was not given, rests after graph breaks too, and those of `torch.compiler.disable(recursive=False)`.
    """

    @property
    def beyond_limit(self) -> int:
        """Calls that fitted no compile and ran eagerly, because no more compiles are made."""
        return self.checked - self.fitted - self.attempts + self.limited


class GraphBreak(DynamoFact, frozen=True, kw_only=True, tag="graph_break"):
    """A place where one graph ended before the frame did.

    `graph` holds the compile id.
    """

    reason: str
    """Why, in torch's words."""
    explanation: str | None = None
    """torch's explanation."""
    hints: tuple[str, ...] = ()
    """torch's hints."""
    where: Location | None = None
    """The line of the program."""
    stack: tuple[Location, ...] = ()
    """The frames around it, outermost first."""


class SideEffect(DynamoFact, frozen=True, kw_only=True, tag="side_effect"):
    """A change of an object of the program's that Dynamo took out of the graph, and makes after it.

    Torch up to 2.12 does not tell these.

    `graph` holds the compile id.
    """

    source: str
    """What is changed, in torch's words: `L['self']`, `G['SEEN']`; empty for an object that the frame itself made."""
    type: str
    """Its class."""
    lines: tuple[Location, ...] = ()
    """A location for each line that changes it."""


class ShapeGuard(DynamoFact, frozen=True, kw_only=True, tag="shape_guard"):
    """A condition on symbolic sizes that was added while a frame was compiled, or a symbol that became a number.

    `graph` holds the compile id.
    """

    what: str
    """`guard` or `specialization`."""
    expression: str
    """`s77 <= 2`; for a specialization `s77 == 4`."""
    sources: tuple[str, ...] = ()
    """What its symbols stand for: `s77 = L['x'].size()[0]`."""
    reason: str = ""
    """torch's word for how it came about: `eval`, `runtime_assert`, `range_refined_to_singleton`."""
    where: Location | None = None
    """The line that was traced; None while no line of the program is, as in Inductor."""


class FailedGuard(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one earlier compile of a frame had relied on, and the value that failed it."""

    compile_id: str
    """The compile id of the earlier compile."""
    condition: str
    """In torch's words: `n == 0`, `tensor 'x' size mismatch at index 0. expected 8, actual 9`."""
    what: str = ""
    """What is not as it was: `n`, `size of x in dimension 0`, `dtype of x`; empty where torch's words are not known."""
    before: str = ""
    """The old value; no code of the program is run for it, and contents of tensors are not recorded."""
    after: str = ""
    """The new value, likewise."""
    source: str = ""
    """The expression that was checked, `x`."""
    value: str = ""
    """Its value now: `float32[9, 4]`, `3`; the class of other objects."""
    where: Location | None = None
    """The source line that made the guard, if torch names it with the failure."""
    hint: str = ""
    """torch's hint."""
    holder: str = ""
    """Class of the object whose attribute it is; empty for an argument or a global."""
    is_of_module: bool = False
    """Whether that object is an nn.Module."""
    is_of_another: bool = False
    """Whether the outermost object, such as `self`, is another one than when the earlier compile was made."""


class Recompile(DynamoFact, frozen=True, kw_only=True, tag="recompile"):
    """A frame was compiled again because these guards of the earlier compiles failed.

    `graph` holds the compile id.
    """

    function: str
    """The frame's function."""
    file: str
    """Its file."""
    line: Int64
    """The line that it begins at."""
    reasons: tuple[str, ...]
    """torch's words: `0/0: n == 0 # return x * n # net.py:4 in f`, followed by a stack trace."""
    failed: tuple[FailedGuard, ...] = ()
    """The same parsed, with the values; the newest compile first."""

    @property
    def failed_guards(self) -> tuple[str, ...]:
        """What failed, for each reason: `0/0: n == 0`."""
        return tuple(reason.partition("\n")[0].partition("  # ")[0].rstrip() for reason in self.reasons)


class Guard(DynamoFact, frozen=True, kw_only=True, tag="guard"):
    """One condition under which the compiled code is reused.

    `graph` holds the compile id.
    """

    table: ClassVar[str] = "guards"

    kind: str
    """torch's name of the guard, `TENSOR_MATCH`."""
    source: str
    """What it looks at, `L['x']`."""
    code: tuple[str, ...] = ()
    """The conditions as Python expressions."""
    where: Location | None = None
    """The line of the program that needed it."""
    value: str = ""
    """What it looked at when it was made: `float32[8, 4]`, a number or text, of other objects the class; empty where
    torch keeps nothing to look at.
    """


class Call(Fact, frozen=True, kw_only=True, tag="call"):
    """One function that a graph passed through between Dynamo and the code that runs; `graph` holds the compile id, if
    there is one.
    """

    table: ClassVar[str] = "calls"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Position among all calls of the process, in the order in which they began."""
    parent: Int64 | None
    """The `index` of the call that it ran inside of; None for the first of a compile, and for a backward that is
    compiled when the program first needs it.
    """
    stage: str
    """`backend` (Dynamo calls it), `compile_fx`, `aot_autograd`, `joint` (its trace, forward and backward as one),
    `partition`, `inference`, `forward` or `backward` (Inductor is handed one graph), `inner` (it is compiled, or found
    compiled), `lowering`, `load`, `codegen`, `scheduler`, `wrapper` (what is put around the generated code),
    `cudagraphs`.
    """
    function: str
    """Its name, `compile_fx`; of a backend what the program calls it."""
    defined: str
    """Its place, `torch/_inductor/compile_fx.py:2685`."""
    received: str
    """What went in: the class of a graph, nodes, example inputs."""
    returned: str = ""
    """What came out: the callable and where it is defined; below partials, bound methods and what only keeps Dynamo
    out.
    """
    inductor_graph: str | None = None
    """The graph's name, from the moment Inductor has one."""
    seconds: float = 0.0
    """Duration, including the calls inside it."""
    error: str | None = None
    """The exception that it raised."""
    note: str = ""
    """Options of the backend; the compilers that one on AOTAutograd hands on; whether CUDA graphs wrap the code, and
    why not.
    """
