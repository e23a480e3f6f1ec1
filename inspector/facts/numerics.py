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


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls of which graphs are checked, and for what."""

    calls: Ranges = ((1, 1),)
    every: Int64 = 0
    """And each so-manieth call, from the first one; 0 for none."""
    graphs: tuple[str, ...] = ()
    """Only graphs with one of these in their names; empty for all."""
    repeats: bool = False
    """Run checked calls again, to find results that are not the same each time."""
    nonfinite: bool = False
    """Look for what makes NaN and Inf, in the place of all else."""
    recorder: bool = False
    """The light form of that: a flag for each call, and what is examined is the call that raises it."""
    eager: bool = False
    """Call the program's own functions beside the compiled ones, and compare what they return."""
    keep: Int64 = 0
    """How many bytes of inputs of wrong launches may be kept in the dump; for the recorder, how many bytes of memory
    inputs may take that a call could need to be made again.
    """
    exact: bool = False
    """Compute exact values for results of graphs, too, that are so near to those of the level above that none could
    make them wrong.
    """
    offload: bool = False
    """Values wait in a temporary file, and not in memory, for the launches that need them."""
    continue_with: Literal["compiled", "reference"] = "compiled"
    """Whose results the program gets from checked calls: those of the compiled code, or of the FX graph node by node.
    """

    def __post_init__(self) -> None:
        if self.recorder and (self.nonfinite or self.repeats or self.eager):
            raise ValueError("the recorder looks for NaN and Inf alone: it goes with calls, every, graphs and keep")
        if self.only_nonfinite and self.offload:
            raise ValueError("looking for NaN and Inf keeps no values that could be offloaded")
        if self.only_nonfinite and self.continue_with == "reference":
            raise ValueError("looking for NaN and Inf checks no call: there is no reference to continue with")

    @property
    def only_nonfinite(self) -> bool:
        """Results are looked through for NaN and Inf, and nothing is compared."""
        return self.nonfinite or self.recorder

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> "Asked":
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
    """In a nested graph, which time it ran in the call, from 1: of a loop's body, which turn; 0 in other graphs."""
    level: str = ""
    """Not of a launch: a result of a graph, or an input that it changes, beside that of the same graph at an earlier
    level. The level that made it wrong, the two that it became wrong between, or all levels in between.
    """
    against: str = ""
    """For such a row, what it was compared with: the graph before the passes, the joint graph, Dynamo's graph or the
    program's function.
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
    line: Int64 | None = None
    """Line number of the launch in output_code.py."""
    buffer: str = ""
    node: str = ""
    """The FX node that it holds the value of; empty if no node has that value."""
    is_step: bool = False
    """It holds a step of that node's lowering in the place of its value, such as the first stage of a split reduction:
    it was compared with what the loops of torch's IR give, which do the same.
    """
    reason: str = ""
    """Why it could not be compared; empty if it was."""
    mismatch: str = ""
    """What it is and what it should be, where these have another shape or dtype, or are no tensors; nothing else was
    measured then.
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
    size: tuple[Int64, ...] = ()
    elements: Int64 = 0
    is_equal: bool = False
    """Every element is the same as eager's; nothing else was measured then."""
    unstable: Int64 = 0
    """Number of elements that were not the same to the bit when the launch ran again on the same inputs."""
    differing: Int64 = 0
    """Number of elements that differ from eager's."""
    not_once: float | None = None
    """Of a launch that rounds to a half type what it stores, and nothing before: the share of elements that are not the
    exact value, rounded once. Told where there are any to speak of.
    """
    untied: Int64 = 0
    """For integers and truth values: differing elements that neither the exact reference nor rounding noise gives."""
    compiled_nonfinite: Int64 = 0
    eager_nonfinite: Int64 = 0
    exact_nonfinite: Int64 = 0
    """Number of exact values that are no numbers of the dtype."""
    nonfinite_wrong: Int64 = 0
    """NaN or Inf where eager and the exact value are finite, or the other way round."""
    eager_alone: Int64 = 0
    """NaN or Inf in eager's value alone: the compiled and the exact one are finite, and the compiled one is judged by
    the exact one.
    """
    rmse: float | None = None
    """Root of the mean square error of the compiled value."""
    eager_rmse: float | None = None
    noise_rmse: float | None = None
    """The same of the exact reference with noise: every value off by one rounding in its dtype. None where the verdict
    is the same without.
    """
    exact_rms: float | None = None
    """Root of the mean square of the exact value itself."""
    worst_error: float | None = None
    eager_worst_error: float | None = None
    noise_worst: float | None = None
    noise_99: float | None = None
    """What noise moves 99 of 100 elements by, at most; None where no element may be wrong."""
    unexplained: Int64 = 0
    """Elements whose error is more than the tolerance, and more than rounding makes of them."""
    unexplained_times: float | None = None
    """The largest of their errors, as a multiple of what rounding makes of that element."""
    on_edge: Int64 = 0
    """Elements with a larger error than rounding makes of most, which rounding moves as far: they lie on the edge of a
    comparison, such as that of a dropout. `rmse` is that of the others.
    """
    typical: float | None = None
    """What nine of ten elements are off by at most, as a multiple of what rounding makes of as many. None where nothing
    is rounded to a half type on the way, or the root mean square error is no larger than rounding explains.
    """
    ulp_median: float | None = None
    """Error of the compiled value in units in the last place of its dtype, here and below."""
    ulp_99: float | None = None
    ulp_worst: float | None = None
    apart: float | None = None
    """The largest difference from eager's value, of a result of a graph for which that is so small that no exact value
    could make it wrong: none was computed then, and no error was measured.
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
    """Its value, here and below."""
    eager: float | None = None
    exact: float | None = None


class NumericsCall(Fact, frozen=True, kw_only=True, tag="numerics_call"):
    """One checked call of a graph, or a graph that could not be checked."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64 = 0
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
    """Why the call, or a part of it, was not checked; empty if it was."""
    against: str = ""
    """What could not be compared with the call, if that is all that was not checked: the program's function."""
    results: Int64 = 0
    """Number of tensors that the call returns, or changes, and that the compiled code's were compared with."""
    stage: str = ""
    """LOADED, PACKAGED, NOT_ASKED or BEGUN for a row that says no more than that; empty for the end of a check."""


class LoadedLine(Fact, frozen=True, kw_only=True, tag="loaded_line"):
    """A line of a graph's code that was loaded in another form than torch generated it."""

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    line: Int64
    """Line number in output_code.py; of a line that was added, that of the line behind it."""
    generated: str = ""
    """Empty for one that was added."""
    loaded: str = ""
    """Empty for one that is missing."""


class KeptInputs(Fact, frozen=True, kw_only=True, tag="kept_inputs"):
    """What a launch with a wrong result was given, or a checked call of a graph: tensors in a file of the dump.

    The wrong result is the `Checked` with the same graph, call, line and buffer.
    """

    table: ClassVar[str] = "numerics"
    per_graph: ClassVar[bool] = False

    call: Int64
    index: Int64 = -1
    """Position of the launch in the call; -1 for the inputs of the graph."""
    kernel: str = ""
    line: Int64 | None = None
    """Line number of the launch in output_code.py."""
    buffer: str = ""
    """The wrong result."""
    node: str = ""
    file: str = ""
    """Path in the dump of what `torch.save` wrote; empty if nothing is kept."""
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
    dtype: str
    size: tuple[Int64, ...] = ()
    value: str = ""
    """The element that a certain element of the result is made of; empty if it is not made of a single one."""
    smallest: str = ""
    """Of its finite elements; empty if it has none, or they have no order. Here and below."""
    largest: str = ""
    has_nan: bool = False
    has_inf: bool = False


class NonFinite(Fact, frozen=True, kw_only=True, tag="non_finite"):
    """What made the first NaN, or the first Inf, that reached a result of a graph."""

    table: ClassVar[str] = "nonfinite"
    per_graph: ClassVar[bool] = False

    call: Int64
    """The call in which one reached a result, from 1."""
    kind: str
    """NaN or Inf."""
    output: Int64
    """Which result of the graph has it, from 0; -1 in a check of launches, where `of_node` does."""
    of_node: str = ""
    """In a check of launches: the FX node whose value has it as eager computes it, and not as the compiled code does,
    whose value is judged by the exact one, which is finite too.
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
    line: Int64 | None = None
    """Line number of that launch in output_code.py."""
    buffer: str = ""
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
    """nan, inf or -inf."""
    count: Int64 = 0
    """Number of elements that have it."""
    elements: Int64 = 0
    dtype: str = ""


class FlaggedCalls(Fact, frozen=True, kw_only=True, tag="flagged_calls"):
    """What the recorder has seen of the calls of one graph, so far: of several the last one says all."""

    table: ClassVar[str] = "nonfinite"
    per_graph: ClassVar[bool] = False

    calls: Int64 = 0
    """Number of calls whose flag was read."""
    flagged: Int64 = 0
    """In how many of them a result had NaN or Inf."""
    first: Int64 = 0
    """The first of these, as calls of the graph are counted; 0 for none. Here and below."""
    last: Int64 = 0
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


class StatementOperand(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What an operation was given."""

    variable: str
    """Empty for a number."""
    value: str


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
    index: Int64
    """Position of the launch in the call."""
    kernel: str
    buffer: str
    """The buffer that the element was stored in: another one of the kernel's if what is wrong was read from there."""
    node: str = ""
    """The FX node of the wrong result."""
    element: Int64 = 0
    """Position of the element in the buffer's memory, from its start."""
    statements: tuple[StatementValue, ...] = ()
    """In the order of the source."""
    blamed: Int64 | None = None
    """The line of the statement that is wrong, in the kernel's source; None if each computes its operation."""
    why: str = ""
    """What is wrong with it: its value, the element that it stores (`index`), the variable that it stores, that it
    never stores the element (`store`), that it is a loop, or a condition on a loop variable, that leaves out a part of
    what it is to run through (`loop`), or that the statements up to it compute something else than their FX node
    (`node`), or that it is computed with another value in the place of a node that no statement computes (`absent`).
    """
    absent: str = ""
    """That FX node; empty if it is none."""
    reason: str = ""
    """Why the statements' values are not known; empty if they are."""
