"""One selection, marked at every level: what a row is connected with elsewhere, without reading the dump again."""

from collections.abc import Iterable
from dataclasses import dataclass

from inspect_compile.facts import Binary, Tuning
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.graph.kernels.launches import distinct
from inspect_compile.graph.provenance.chain import Line, Provenance, Selection
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.tables.text import file_name, number_of, one_line, places_text
from inspect_compile.tui.models.sheet import Subject


@dataclass(frozen=True)
class Choice:
    """What the user has selected, and everything connected with it."""

    subject: Subject
    selection: Selection
    view: str
    """The view in which it was selected."""
    kernels: int = 0
    """Number of kernels connected with it; several calls of an extern function are one."""


class Chain(Provenance):
    """The chain of ids of one graph. Built on the reader's thread, then used on the screen's."""

    def __init__(self, graph: CompiledGraph) -> None:
        # Not before the first paint: they import a third of the analyses.
        from inspect_compile.analysis.kernels.stage_lines import stages_of

        super().__init__(graph)
        self.compiled = graph
        self.graph = graph.name
        self.stages = stages_of(graph.rows(Binary))
        """The stages that Triton kept of any of them."""
        self.has_cpp = any(kernel.kind == "cpp" and kernel.source for kernel in self.kernels)
        """Whether any of them is C++, so that there is an assembly to be made."""
        self.is_tuned = bool(graph.rows(Tuning))
        """Whether anything was autotuned."""
        several = {Id.of(kernel) for kernel in self.kernels if len(kernel.launches) > 1}
        calls = grouped(graph.launches if several else (), lambda call: Id(call.graph, call.kernel.name))
        self.calls_of = {key: calls[key] for key in several if key in calls}
        """Kernel that is called several times → its calls."""
        self.statements = graph.statements
        """Read on the reader's thread, when a kernel's source is read."""
        # On first use they would be read from the dump on the wrong thread.
        self._read_here = (
            self.operations_of_node, self.kernels_of_node, self.operations_of_buffer, self.line_of_node,
            self.lines_of_node, self.kernels_of_operation, self.nodes_of_line, self.nodes_of_operation,
        )  # fmt: skip

    def choose(self, subject: Subject, view: str) -> Choice:
        """Follow `subject` to every level."""
        names = subject.names
        if subject.level == "kernel":
            names = tuple(name for name in names if isinstance(name, int) and name < len(self.kernels))
        selection = self.select(subject.level, names)
        return Choice(subject, selection, view, self.count(selection.kernels))

    def count(self, positions: Iterable[int]) -> int:
        """Number of kernels at these positions, counted like `distinct`."""
        return len(distinct(self.kernels[position] for position in positions))

    def of_line(self, line: Line) -> Subject:
        """A line of the program as a subject."""
        name = f"{file_name(line.file)}:{line.number}"
        return Subject("line", (line,), name, (name,))

    def of_node(self, graph: str, node: str) -> Subject:
        """An FX node as a subject."""
        name = self.key(graph, node)
        return Subject("node", (name,), node, (node,))

    def of_copy(self, graph: str, node: str, buffers: Iterable[str]) -> Subject:
        """An FX node, and the operations that make copies for it, as one subject; without copies the node."""
        makers = [self.operations_of_buffer.get(self.key(graph, buffer), ()) for buffer in buffers]
        if not any(makers):
            return self.of_node(graph, node)
        its = self.operations_of_node.get(self.key(graph, node), ())
        names = dict.fromkeys(name for names in (*makers, its) for name in sorted(names))
        return Subject("operation", tuple(names), node, (node,))

    def of_nodes(self, graph: str, nodes: Iterable[str]) -> Subject:
        """Several FX nodes as one subject, that of the first."""
        names = tuple(nodes)
        return Subject("node", tuple(self.key(graph, name) for name in names), names[0], names[:1])

    def of_kernel(self, position: int) -> Subject:
        """A kernel as a subject."""
        name = self.kernels[position].name
        return Subject("kernel", (position,), name, (name,))

    def of_launch(self, position: int, *lines: int | None) -> Subject:
        """One call of a kernel, or several, as a subject; if there are others, what these compute."""
        kernel = self.kernels[position]
        calls = [call for call in self.calls_of.get(Id.of(kernel), ()) if call.line in lines]
        names = tuple(dict.fromkeys(self.key(call.graph, name) for call in calls for name in call.operations))
        return Subject("operation", names, kernel.name, names[:1]) if names else self.of_kernel(position)


def is_marked(subject: Subject | None, selection: Selection) -> bool:
    """True if a row that stands for `subject` belongs to `selection`."""
    if subject is None:
        return False
    if subject.is_sum:
        return selection.nodes.issuperset(subject.names)
    match subject.level:
        case "line":
            return not selection.lines.isdisjoint(subject.names)
        case "node":
            return not selection.nodes.isdisjoint(subject.names)
        case "operation":
            return not selection.operations.isdisjoint(subject.names)
        case "buffer":
            return not selection.buffers.isdisjoint(subject.names)
        case "kernel":
            return not selection.kernels.isdisjoint(subject.names)


def choice_parts(choice: Choice) -> list[str]:
    """The selection and how much belongs to it: `mixed.py:17`, `10 nodes`, `2 kernels`."""
    selection, level = choice.selection, choice.subject.level
    parts = [one_line(choice.subject.label)]
    if not (selection.nodes or selection.operations or choice.kernels):
        return [*parts, "nothing in this graph comes from it"]
    if level != "line":
        parts.append(lines_text(selection.lines))
    if len(selection.nodes) != 1 or level != "node":
        parts.append(number_of(len(selection.nodes), "node"))
    if len(selection.operations) != 1 or level != "operation":
        parts.append(number_of(len(selection.operations), "operation"))
    if level != "kernel":
        parts.append(number_of(choice.kernels, "kernel"))
    return [part for part in parts if part]


def lines_text(lines: Iterable[Line]) -> str:
    """Lines in order, each file once, the user's own first: `mixed.py:8 9`."""
    ordered = sorted(lines, key=lambda line: (is_library(line.file), line.file, line.number))
    return places_text(((line.file, str(line.number)) for line in ordered), ", ")
