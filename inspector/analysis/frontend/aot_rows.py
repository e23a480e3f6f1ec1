"""The rows of the table of AOTAutograd's record: each input, output and tangent of each graph that it traced."""

from collections.abc import Iterator

import msgspec

from inspect_compile.facts import AotInput, AotMetadata, AotOutput, Location, Tensor
from inspect_compile.graph import Graphs

OUTPUT, INNER_OUTPUT = "output", "inner output"


class AotRow(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="aot_row"):
    """One input, output or tangent of a graph that AOTAutograd traced."""

    graph: str
    """The compile id."""
    aot_id: int | None
    """AOTAutograd's number of the graph."""
    what: str
    """input, output or tangent; inner input or inner output where tensor subclasses are unwrapped for the graph."""
    index: int
    name: str = ""
    """torch's expression for it; of a tangent what it is the gradient of."""
    changes: tuple[str, ...] = ()
    """What of an input is changed."""
    changed: str = ""
    """mutated_in_graph or mutated_out_graph; empty for what is not changed."""
    kind: str = ""
    """Of an output, torch's name of its kind: `alias_of_input`."""
    base: int | None = None
    """What it is a view of: the index of an input, an intermediate or an output, by its kind."""
    requires_grad: bool = False
    is_static: bool = False
    """An input with the same address in each call."""
    notes: tuple[str, ...] = ()
    """What else torch knows, in words."""
    tensor: Tensor | None = None
    """Size and strides that the backward is compiled for, of a tangent."""
    where: Location | None = None
    """The line that made the output of a tangent."""


def aot_rows(graphs: Graphs) -> list[AotRow]:
    """All rows, or those of the compile that made `graph`; inputs first."""
    return [row for found in graphs.of_compiles(AotMetadata) for row in rows_of(found)]


def rows_of(found: AotMetadata) -> Iterator[AotRow]:
    """The rows of one record."""
    for what, inputs in (("input", found.inputs), ("inner input", found.inner_inputs)):
        for index, given in enumerate(inputs):
            yield AotRow(
                graph=found.graph,
                aot_id=found.aot_id,
                what=what,
                index=index,
                name=given.name,
                changes=given.changes,
                changed=given.changed,
                requires_grad=given.requires_grad,
                is_static=given.is_static,
                notes=tuple(_input_notes(given)),
            )
    for what, outputs in ((OUTPUT, found.outputs), (INNER_OUTPUT, found.inner_outputs)):
        for index, made in enumerate(outputs):
            yield AotRow(
                graph=found.graph,
                aot_id=found.aot_id,
                what=what,
                index=index,
                kind=made.kind,
                base=made.base,
                requires_grad=made.requires_grad,
                notes=tuple(_output_notes(made)),
            )
    for index, tangent in enumerate(found.tangents):
        yield AotRow(
            graph=found.graph,
            aot_id=found.aot_id,
            what="tangent",
            index=index,
            name=tangent.of,
            tensor=tangent.tensor,
            where=tangent.where,
        )


def _input_notes(given: AotInput) -> Iterator[str]:
    if given.changed and given.hidden_from_autograd:
        yield "not seen by autograd"
    if given.changed and given.without_grad:
        yield "under no_grad"
    if given.requires_grad and not given.is_leaf:
        yield "no leaf"


def _output_notes(made: AotOutput) -> Iterator[str]:
    if made.type not in ("", "FunctionalTensor", "FakeTensor", "Tensor"):
        yield made.type
    if made.requires_grad and not made.has_gradient:
        yield "no tangent"
    if made.dynamic:
        yield f"dynamic dimensions {', '.join(map(str, made.dynamic))}"
