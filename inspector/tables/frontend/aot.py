"""AOTAutograd's record of each graph: inputs that are changed in place, outputs that are views, tangents."""

from typing import Final

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.aot_rows import INNER_OUTPUT, OUTPUT, AotRow, aot_rows, rows_of
from inspect_compile.facts import AotMetadata
from inspect_compile.tables.columns import Column, place_cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited, recorded_of_compiles
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, heading, styled
from inspect_compile.tables.text import number_of, one_line

_BASES: Final = {
    "alias_of_input": "a view of input {}",
    "is_input": "input {} itself",
    "alias_of_intermediate": "a view of intermediate {}",
    "alias_of_intermediate_save_as_output": "a view of intermediate {}, which is returned too",
    "alias_of_intermediate_base_is_user_output": "a view of output {}",
    "unsafe_view_alias": "the only view of its base",
    "custom_function_view": "a view that a torch.autograd.Function made",
    "non_alias": "new memory",
}
"""torch's kind of an output → what that means."""
_PLACES: Final = {
    "mutated_in_graph": "in the graph",
    "mutated_out_graph": "by the runtime wrapper, after the graph",
}


def is_text(row: AotRow) -> str:
    """What an input, output or tangent is."""
    if row.what in (OUTPUT, INNER_OUTPUT):
        words = _BASES.get(row.kind, row.kind)
        return words.replace("{}", "?" if row.base is None else str(row.base))
    if row.what == "tangent":
        found = row.tensor
        return "" if found is None else f"{found.dtype}{_numbers(found.size)} strides {_numbers(found.stride)}"
    changed = f"{' and '.join(row.changes)} changed {_PLACES.get(row.changed, row.changed)}" if row.changed else ""
    return ", ".join(filter(None, (changed, "static address" if row.is_static else "")))


def _numbers(values: tuple[int | str, ...]) -> str:
    return f"[{', '.join(map(str, values))}]"


COLUMNS: Final[tuple[Column[AotRow], ...]] = (
    Column("what", lambda row: f"{row.what} {row.index}"),
    Column("name", lambda row: one_line(row.name), role="name", stretch=True, least=12, most=60, middle=True),
    Column("is", lambda row: one_line(is_text(row)), stretch=True, least=20, most=80),
    Column("gradient", lambda row: "required" if row.requires_grad else "", role="dim"),
    Column("more", lambda row: one_line(", ".join(row.notes)), role="dim", optional=True, most=60, drop=2),
    Column("made by", lambda row: place_cell(row.where), optional=True, most=44, drop=1),
)


def aot(request: Request) -> Block:
    """A sheet for each graph; torch's other fields below it."""
    sheets: list[Block] = []
    for found in request.graphs.of_compiles(AotMetadata):
        rows = request.kept(rows_of(found))
        if rows or not request.names:
            sheets.append(
                limited(
                    COLUMNS, rows, request.limit, request.every("aot"), title=_title(found), notes=[_settings(found)]
                )
            )
    nothing = text_or_nothing(request.dump, "AOTAutograd compiled no graph")
    return Stack(sheets) if sheets else styled(nothing, "dim")


def _title(found: AotMetadata) -> StyledLine:
    changed = sum(bool(one.changed) for one in found.inputs)
    parts = [
        number_of(len(found.inputs), "input"),
        f"{changed} changed" if changed else "",
        number_of(len(found.outputs), "output"),
        "from the cache" if found.cached else "",
    ]
    return heading(found.graph or "without a frame", ", ".join(filter(None, parts)))


def _settings(found: AotMetadata) -> StyledLine:
    settings = "  ".join(
        f"{name} {value}" for name, value in found.settings.items() if value not in ("None", "[]", "0")
    )
    return styled(one_line(settings), "dim")


TABLE: Final = DeclaredTable(aot, aot_rows, recorded_of_compiles(AotMetadata))
