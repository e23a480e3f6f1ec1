"""What a check of numerics was asked for, and what it found: the errors of each launch's results."""

import sys
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec

from inspect_compile.facts.base import Fact, Int64, Location

Ranges = tuple[tuple[Int64, Int64], ...]
"""First and last of each run of calls of a graph, from 1."""
ALL_CALLS: Final[Ranges] = ((1, sys.maxsize),)


def usual_calls(*, every: int = 0, nonfinite: bool = False) -> Ranges:
    """Which calls are checked if none are named."""
    return () if every else ALL_CALLS if nonfinite else ((1, 1),)


KEPT_IN_MEMORY: Final = 4 << 30
"""How many bytes of memory the recorder takes at most, if nothing else is said."""


LOADED: Final = "loaded"
"""The code of a graph was loaded, and its calls can be checked."""
NOT_ASKED: Final = "not asked"
"""The first call of a graph that was not to be checked."""
PACKAGED: Final = "packaged"
"""AOTInductor made a library of a graph: it is called through a package."""
BEGUN: Final = "begun"
"""The check of a call began."""


ALL_RESULTS: Final = "results"
"""What a row calls all that a call leaves behind, where none of it could be compared with a level."""


class NumericsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls of which graphs are checked, and for what."""

    calls: Ranges = ((1, 1),)
    """First and last of each run of calls of a graph, from 1."""
    every: Int64 = 0
    """And each so-manieth call, from the first one; 0 for none."""
    graphs: tuple[str, ...] = ()
    """Only graphs with one of these in their names; empty for all."""
    repeats: bool = False
    """Whether they were made again, to find results that are not the same each time."""
    nonfinite: bool = False
    """Whether results were looked through for NaN and Inf, and nothing was compared."""
    recorder: bool = False
    """The light form of that: a flag for each call, and what is examined is the call that raises it."""
    eager: bool = False
    """Call the program's own functions beside the compiled ones, and compare what they return."""
    keep: Int64 = 0
    """How many bytes of inputs of wrong launches could be kept; with `recorder`, how much memory inputs could take."""
    exact: bool = False
    """Compute exact values for results of graphs, too, that are so near to those of the level above that none could
    make them wrong.
    """
    offload: bool = False
    """Values wait in a temporary file, and not in memory, for the launches that need them."""
    continue_with: Literal["compiled", "reference"] = "compiled"
    """Whose results the program got: `compiled` or `reference`."""

    def __post_init__(self) -> None:
        if self.recorder and (self.nonfinite or self.repeats or self.eager):
            raise ValueError(
                "the recorder looks only for NaN and Inf: it can be combined with calls, every, graphs and keep"
            )
        if self.only_nonfinite and self.offload:
            raise ValueError("looking for NaN and Inf keeps no values that could be offloaded")
        if self.only_nonfinite and self.continue_with == "reference":
            raise ValueError("looking for NaN and Inf checks no call: there is no reference to continue with")

    @property
    def only_nonfinite(self) -> bool:
        """Results are looked through for NaN and Inf, and nothing is compared."""
        return self.nonfinite or self.recorder

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> "NumericsRequest":
        """From what `plain` gave. Raises ValueError for anything else."""
        return msgspec.convert(plain, cls)

    def plain(self) -> dict[str, Any]:
        """As values that JSON has."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def has_graph(self, graph: str) -> bool:
        """True if calls of this graph are checked at all."""
        return not self.graphs or any(name in graph for name in self.graphs)

    def has_call(self, number: int) -> bool:
        """True if this call of a graph is checked; counted from 1."""
        if self.every and (number - 1) % self.every == 0:
            return True
        return any(first <= number <= last for first, last in self.calls)


class Checked(Fact, frozen=True, kw_only=True, tag="checked"):
    """One buffer that a launch wrote in a checked call, beside eager's value and the exact one.

    The launch ran with the reference's values in its inputs, so that the errors are its alone. Errors are absolute
    differences from the exact value, over the elements where both values are finite.
    """

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64
    """Which call of the graph, from 1."""
    index: Int64
    """Position of the launch in the call; -1 for a result of the graph."""
    turn: Int64 = 0
    """In a nested graph, which time it ran in the call, from 1 (of a loop's body, which turn); 0 in other graphs."""
    level: str = ""
    """Of a result of a graph, beside that of an earlier level: the level that made it wrong, such as a pass, `between …
    and …` if none in between was compared, or all in between; `index` is -1 then, `kernel` empty, and `buffer` says
    which result, or which input that is changed in place. Empty for a launch.
    """
    against: str = ""
    """For such a row, what it was compared with: `the graph that is lowered`, `the graph before the passes`, `the joint
    graph`, `Dynamo's graph` or `the program's function`.
    """
    is_mended: bool = False
    """What this level made wrong is right in what the compiled code gives, as a later pass took the error away, or a
    kernel that rounds less often than its nodes. Of a launch: it is the one that took the error of a pass away.
    """
    source: str = ""
    """The first node of Dynamo's graph whose value is wrong; of a pass, or an edit of Dynamo's graph, the node at which
    the edit begins that makes the result wrong. Empty if it is not known.
    """
    operator: str = ""
    """What that node calls."""
    where: Location | None = None
    """The source line of that node."""
    kernel: str = ""
    """The kernel, as in `kernels`."""
    line: Int64 | None = None
    """Line number of the launch in output_code.py."""
    buffer: str = ""
    """What it wrote."""
    node: str = ""
    """The FX node that it holds the value of; empty if no node has that value."""
    is_step: bool = False
    """It holds a step of that node's lowering in the place of its value, such as the first stage of a split reduction:
    it was compared with what the loops of torch's IR give, which do the same.
    """
    reason: str = ""
    """Why it was not compared; empty if it was."""
    mismatch: str = ""
    """What it is and what it should be, where these have another shape or dtype, or are no tensors (`int64[2], not
    bfloat16[2]`); nothing else was measured then.
    """
    other_strides: str = ""
    """The strides of a result that the program gets, and those of eager's, where these differ: `strides (8, 1), not
    (1, 4)`. Its elements are judged all the same.
    """
    no_exact: str = ""
    """Why there is no exact value, so that it was compared with eager's only; empty if there is one."""
    unforced: tuple[str, ...] = ()
    """Inputs that kept what the compiled code had written, because no node has their value."""
    unforced_of: tuple[str, ...] = ()
    """The kernels that had written these: a mistake can be theirs."""
    dtype: str = ""
    """Of the value."""
    size: tuple[Int64, ...] = ()
    """Of the value."""
    elements: Int64 = 0
    """Number of elements of the value."""
    is_equal: bool = False
    """Every element is the same as eager's; nothing else was measured then."""
    unstable: Int64 = 0
    """Number of elements that were not the same to the bit when the launch ran again on the same inputs."""
    differing: Int64 = 0
    """Number of elements that differ from eager's."""
    not_once: float | None = None
    """Of a launch that rounds to a half type what it stores, and nothing before: the share of elements that are not the
    exact value, rounded once; None where that are few, or it is not known.
    """
    untied: Int64 = 0
    """Of integers and truth values: how many of these neither the exact reference nor rounding explains."""
    compiled_nonfinite: Int64 = 0
    """How many elements of the compiled value are NaN or Inf."""
    eager_nonfinite: Int64 = 0
    """The same of eager's value."""
    exact_nonfinite: Int64 = 0
    """The same of the exact value, those that the dtype has no number for included."""
    nonfinite_wrong: Int64 = 0
    """NaN or Inf where eager and the exact value are finite, or vice versa."""
    eager_alone: Int64 = 0
    """NaN or Inf in eager's value alone: the compiled and the exact one are finite, and the compiled one is judged by
    the exact one.
    """
    rmse: float | None = None
    """Root of the mean square error of the compiled value, over elements where it and the exact one are finite."""
    eager_rmse: float | None = None
    """The same of eager's value."""
    noise_rmse: float | None = None
    """The same of the exact reference with noise: every value off by one rounding in its dtype. None where the verdict
    is the same without.
    """
    exact_rms: float | None = None
    """Root of the mean square of the exact value itself."""
    worst_error: float | None = None
    """The largest error of one element of the compiled value."""
    eager_worst_error: float | None = None
    """The same of eager's value."""
    noise_worst: float | None = None
    """The same of the exact reference with noise."""
    noise_99: float | None = None
    """What noise moves 99 of 100 elements by, at most; None where no element may be wrong."""
    unexplained: Int64 = 0
    """How many elements have an error of more than the tolerance and more than rounding makes of them; 1 where only the
    largest error is compared (with `--eager`, and in graphs with collectives).
    """
    unexplained_times: float | None = None
    """The largest of their errors, as a multiple of what rounding makes of that element; None where none is wrong."""
    on_edge: Int64 = 0
    """How many elements have a larger error than rounding makes of most, and are moved as far by rounding: they lie on
    the edge of a comparison, and `rmse` is that of the others.
    """
    typical: float | None = None
    """What nine of ten elements are off by at most, as a multiple of what rounding makes of as many; None where nothing
    is rounded to a half type on the way, or the root mean square error is explained by rounding.
    """
    ulp_median: float | None = None
    """Median of the compiled value's errors, in units in the last place of its dtype."""
    ulp_99: float | None = None
    """The 99th percentile of these."""
    ulp_worst: float | None = None
    """The largest of these."""
    apart: float | None = None
    """The largest difference from eager's value, of a result of a graph that is so near to it that no exact value was
    computed (see `--exact`); the errors above are left out then.
    """
    exact_apart: float | None = None
    """How far the exact value of a result is after the passes from what it is before them: the largest difference of
    nine of ten elements, relative to the largest of as many. None where that is no more than computing in fp64 makes,
    or was not computed: it is of results that are rounded to half types, and are not those before to the bit.
    """
    worst: tuple[Int64, ...] = ()
    """Index of the element with the largest error, or of the first that is NaN or Inf and should not be, or should; the
    one with the largest difference where no error was measured.
    """
    compiled: float | None = None
    """The compiled value of that element."""
    eager: float | None = None
    """Eager's value of it."""
    exact: float | None = None
    """Its exact value."""


class NumericsCall(Fact, frozen=True, kw_only=True, tag="numerics_call"):
    """One checked call of a graph, or a graph that could not be checked."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64 = 0
    """Which call of the graph, from 1; 0 for the whole graph."""
    launches: Int64 = 0
    """Number of launches that ran in it."""
    repeated: bool = False
    """It was made again on the same inputs."""
    unstable_results: Int64 = 0
    """Number of the call's results that were not the same to the bit then."""
    reference_seconds: float = 0.0
    """Time for the FX graph node by node in its dtypes."""
    forced_seconds: float = 0.0
    """Time for the forced launches with everything compared, fp64 included."""
    continued: str = ""
    """reference: the program got the results of the FX graph node by node; empty: those of the compiled code."""
    not_continued: str = ""
    """Why it got those of the compiled code, if the reference's were asked for."""
    reason: str = ""
    """Why it was not checked, or not to its end; empty if it was."""
    against: str = ""
    """What could not be compared with the call, if that is all that was not checked: `the program's function`."""
    results: Int64 = 0
    """How many tensors that the call returns, or changes, were to be compared with those of the graph run node by node.
    """
    stage: str = ""
    """Empty for the end of a check. `loaded`: the graph's calls can be checked; `not asked`: the first call that was
    not to be checked; `begun`: the check of a call began.
    """


class LoadedLine(Fact, frozen=True, kw_only=True, tag="loaded_line"):
    """A line of a graph's code that was loaded in another form than torch generated it; the first 40 of a graph."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    line: Int64
    """Line number in output_code.py; of a line that was added, that of the line behind it."""
    generated: str = ""
    """As torch generated it; empty for a line that was added."""
    loaded: str = ""
    """As it was loaded; empty for a line that is missing."""


class KeptInputs(Fact, frozen=True, kw_only=True, tag="kept_inputs"):
    """What the first wrong launch of a kernel was given, or the call of a graph with a result that is wrong or worse
    than eager's: tensors in a file of the dump.
    """

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64
    """Which call of the graph, from 1."""
    index: Int64 = -1
    """Position of the launch in the call; -1 for the inputs of the graph."""
    kernel: str = ""
    """The kernel; empty for the inputs of the graph."""
    line: Int64 | None = None
    """Line number of the launch in output_code.py."""
    buffer: str = ""
    """The wrong result, which has its worst element and values in the `checked` with the same `call`, `line` and
    `buffer`; empty for the inputs of the graph.
    """
    node: str = ""
    """The FX node whose value it is."""
    file: str = ""
    """Path in the dump of what `torch.save` wrote (`torch.load` reads it with `weights_only=True`); empty if nothing is
    kept.
    """
    bytes: Int64 = 0
    """Size of the tensors, also if nothing is kept."""
    reason: str = ""
    """Why nothing is kept; empty if it is."""
    variables: tuple[str, ...] = ()
    """What is kept: variables of the launching statement."""
    result: str = ""
    """The result after the launch, as an expression of the launching statement's variables."""
    reference: str = ""
    """Python: the function `reference`, which computes the node from the kept arguments in its dtypes."""
    exact: str = ""
    """The same in fp64, the function `exact`."""
    no_reference: str = ""
    """Why there are no such functions, so that eager's value is kept; empty if there are."""
    drawn: str = ""
    """Python: the function `recorded`, which makes tensors like those of the file from a seed."""
    not_drawn: str = ""
    """Why there is no such function; empty if there is."""


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor that an FX node was computed from. Numbers are texts: JSON has no NaN."""

    node: str
    """The FX node whose value it is."""
    dtype: str
    """Its dtype."""
    size: tuple[Int64, ...] = ()
    """Its size."""
    value: str = ""
    """The element that a certain element of the result is made of; empty if it is not made of a single one."""
    smallest: str = ""
    """The smallest of its finite elements; empty if it has none, or they have no order."""
    largest: str = ""
    """The largest of them."""
    has_nan: bool = False
    """It has NaN."""
    has_inf: bool = False
    """It has Inf."""


class NonFinite(Fact, frozen=True, kw_only=True, tag="non_finite"):
    """What made the first NaN, or the first Inf, that reached a result of a graph."""

    table: ClassVar[str] = "nonfinite"
    per_graph: ClassVar[bool] = False

    call: Int64
    """The call in which one reached a result, from 1."""
    kind: str
    """`NaN` or `Inf`."""
    output: Int64
    """Which result of the graph has it, from 0; -1 in a check of launches, where `of_node` does."""
    of_node: str = ""
    """In a check of launches: the FX node whose value has it in eager alone; `output` is -1 then, and no launch is
    named.
    """
    step: Int64 = 0
    """Of the recorder: in which step of the program, from 1; 0 for any other check."""
    again: bool = False
    """Of the recorder: an earlier call of the graph had it, too, and then some had not."""
    reason: str = ""
    """Why nothing more is known of what made it; empty if it was looked for."""
    came_in: str = ""
    """The graph's input that had it already; empty if it was made in the graph."""
    index: Int64 | None = None
    """Position of the launch that wrote the first one, in the call."""
    kernel: str = ""
    """The kernel of that launch."""
    line: Int64 | None = None
    """Line number of that launch in output_code.py."""
    buffer: str = ""
    """What it wrote."""
    in_eager: bool = False
    """The graph run node by node makes it too; if not, the compiled code alone does."""
    node: str = ""
    """The FX node that makes it there; empty if none does."""
    from_inf: str = ""
    """For NaN, an operand of that node that has Inf; empty if none has."""
    operands: tuple[Operand, ...] = ()
    """The tensors that the node was computed from."""
    element: tuple[Int64, ...] = ()
    """The first element that has it: of the node's value; of the buffer if `in_eager` is false."""
    value: str = ""
    """`nan`, `inf` or `-inf`."""
    count: Int64 = 0
    """Number of elements that have it."""
    elements: Int64 = 0
    """Number of elements of that value."""
    dtype: str = ""
    """Of that value."""


class FlaggedCalls(Fact, frozen=True, kw_only=True, tag="flagged_calls"):
    """What the recorder has seen of the calls of one graph, so far: of several the last one says all."""

    table: ClassVar[str] = "nonfinite"
    per_graph: ClassVar[bool] = False

    calls: Int64 = 0
    """Number of calls whose flag was read."""
    flagged: Int64 = 0
    """In how many of them a result had NaN or Inf."""
    first: Int64 = 0
    """The first of these, as calls of the graph are counted; 0 for none."""
    last: Int64 = 0
    """The last of these; 0 for none."""
    results: Int64 = 0
    """Number of results of a call that are looked at."""
    device: str = ""
    """Where its inputs are kept."""
    kept_calls: Int64 = 0
    """Of how many calls inputs are kept at most, at the same time."""
    kept_bytes: Int64 = 0
    """The memory that this takes."""
    examinable: Int64 = 0
    """Number of calls that could have been examined: what they were given was kept until their flag was read."""
    reason: str = ""
    """Why a call could not have been; empty if all could."""
    waits: Int64 = 0
    """How often the program waited for its device, so that memory for inputs could be used again."""
    waited_seconds: float = 0.0
    """How long it waited in all."""


class StatementOperand(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What an operation was given."""

    variable: str
    """The variable; empty for a number."""
    value: str
    """Its value."""


class StatementValue(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One statement of a kernel in the iteration that stored a certain element. Numbers are texts: JSON has no NaN."""

    line: Int64
    """Line number in the kernel's source, from 1."""
    operator: str
    """The operation of torch's loop body, with its kind if it is a reduction; empty if it has none."""
    node: str
    """The FX node that the operation belongs to; empty if it has none."""
    value: str
    """What the kernel computed."""
    expected: str = ""
    """What the operation is, in fp64, of the values that the kernel had for its operands; empty if it is not known."""
    exact: str = ""
    """What it is where nothing was rounded since the loads; empty if it is not known."""
    is_wrong: bool = False
    """Rounding does not explain the difference of value and expected."""
    dtype: str = ""
    """The dtype of which roundings are counted; empty if it is not known."""
    operands: tuple[StatementOperand, ...] = ()
    """Of an arithmetic operation. Of a step of a reduction or of an addition to memory: what was there before, and what
    is added.
    """
    element: Int64 | None = None
    """Of a load that is wrong: the position in the buffer's memory that it is to read."""
    read: Int64 | None = None
    """The only position of that buffer where the value that it got is; None if there is none, or several."""
    read_from: str = ""
    """Another buffer of the launch that has the value at `element`, if it is the only one."""
    terms: Int64 = 0
    """Of a reduction of a row at once: how many values it reduces."""
    magnitude: str = ""
    """The sum of their absolute values."""


class StatementsOf(Fact, frozen=True, kw_only=True, tag="statements_of"):
    """The statements of a kernel for the worst element of a wrong result, or why they are not known."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64
    """Which call of the graph, from 1."""
    index: Int64
    """Position of the launch in the call."""
    kernel: str
    """The kernel."""
    buffer: str
    """The buffer that the element was stored in: another one of the kernel's if what is wrong was read from there."""
    node: str = ""
    """The FX node of the wrong result."""
    element: Int64 = 0
    """Position of the element in the buffer's memory, from its start."""
    statements: tuple[StatementValue, ...] = ()
    """One for each statement, in the order of the source."""
    blamed: Int64 | None = None
    """The line of the statement that is wrong, in the kernel's source; None if each computes its operation."""
    why: str = ""
    """`value`; `index`: it stores to another place; `variable`: it stores another variable; `store`: it never stores
    the element; `loop`: it is a loop, or a condition on a loop variable, that ends at its `value` and is to end at
    `expected`; `node`: the statements up to it compute something else than their FX node; `absent`: it is computed with
    another value in the place of a node that no statement computes.
    """
    absent: str = ""
    """That FX node; empty if it is none."""
    reason: str = ""
    """Why the statements' values are not known; empty if they are."""
