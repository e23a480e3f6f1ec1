"""The records of the overview: figures of a run, of each graph and of all graphs together."""

import msgspec

from inspect_compile.facts import Omission


class GraphSummary(msgspec.Struct, frozen=True, tag_field="fact", tag="graph_summary"):
    """Figures of one outermost graph, nested graphs included: `show summary --json`, `show graphs --json`."""

    graph: str
    kind: str
    compile_id: str | None
    device: str
    status: str
    """compiled, failed, stopped (recorded in part), open (still compiling), or unfinished (the program ended)."""
    exception: str | None
    seconds: float | None
    nested: int
    """Number of nested graphs."""
    nodes: int
    """Number of post-grad nodes."""
    operations: int
    """Number of scheduler nodes before fusion."""
    groups: int
    """Number of scheduler nodes after fusion."""
    kernels: dict[str, int]
    """Kind → number of kernels; extern functions count once each."""
    launches: int
    """Number of calls of kernels and extern functions in the generated code."""
    flops: int
    flops_by_kind: dict[str, int]
    flops_uncounted: int
    """Number of nodes that compute something and are not counted."""
    moved_bytes: int
    """Bytes that all calls read and write, each element of a buffer once per call."""
    least_bytes: int
    """Bytes of the inputs that are read, and of the outputs."""
    unknown_launches: int
    """Number of calls whose bytes are not fully known; the known part is in `moved_bytes`."""
    peak_bytes: int
    """Peak memory, relative to the start of the call."""
    peak_line: int | None
    allocated_bytes: int
    accounted: float
    """Share of nodes accounted for, between 0 and 1."""
    missing: tuple[str, ...]
    """Nodes that nothing accounts for."""
    unknown_lines: tuple[int, ...]
    """Lines of output_code.py of no known kind."""
    fused: int
    refused: int
    missed_pairs: int
    """Number of pairs that share bytes and ended in different launches, without library calls."""


class RunSummary(msgspec.Struct, frozen=True, tag_field="fact", tag="run_summary"):
    """The run as a whole. The first row of `show summary --json`."""

    status: str
    argv: tuple[str, ...]
    versions: dict[str, str]
    seconds: float | None
    probe_seconds: float
    """Time that the probes took."""
    failed_hooks: int
    """Number of hooks that were turned off because they raised, or that found nothing to watch."""
    graphs: int
    frames: dict[str, int]
    """Status → number of frames that Dynamo tried."""
    graph_breaks: int
    recompiles: int
    remarks: dict[str, int]
    """Kind → number of remarks."""
    notes: tuple[str, ...]
    omitted: tuple[Omission, ...]
    """What is not in the dump because of a limit."""
    eager: dict[str, int] = {}
    """Why functions run eagerly, in some calls or in all → how many do; `functions` → how many Dynamo looked at."""
    eager_calls: int = 0
    """Number of calls that ran eagerly."""
    eager_calls_why: dict[str, int] = {}
    """The same by reason: `limit`, of calls that fitted no compile; `skipped`, of functions given to torch.compile that
    Dynamo skips, from the second call on; `disabled`.
    """
    checked_calls: int = 0
    """Of so many calls of functions, of rests after graph breaks (all but the first of each) and of disabled functions;
    0 if they were not counted, or `eager_calls` is.
    """
    uncounted_functions: int = 0
    """Functions that run eagerly and whose calls are not among these: no hook sees them."""
    broken_lines: int = 0
    """Number of lines that the graph breaks are at: one line may break the graph of several frames."""


class Totals(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="totals"):
    """All graphs together. `show --json` prints it after the run."""

    graphs: int
    nodes: int
    operations: int
    groups: int
    kernels: dict[str, int]
    """Kind → number of kernels, those of each graph counted separately."""
    launches: int
    flops: int
    """FLOPs of one call of each graph."""
    moved_bytes: int
    """Bytes of one call of each graph, as far as known."""
    fused: int
    missed_pairs: int
    highest: str
    """The graph with the highest peak of memory; empty without a graph."""
    peak_bytes: int
    """That peak, relative to the start of the graph's call."""
    peak_line: int | None
    """Line number in its output_code.py."""
    accounted: float
    """Share of the nodes of compiled graphs that are accounted for, between 0 and 1."""
    incomplete: tuple[str, ...]
    """Graphs that did not compile, or not to their end."""
    cold: tuple[str, ...] = ()
    """Graphs that are in no `line_cost`: they ran in a first, cold call alone, and another compile of the same function
    was timed in later calls.
    """
