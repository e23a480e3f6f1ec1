"""What torch tells of each compile itself: `artifacts` (texts), `metrics` (counts) and `settings`."""

import json
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.traced import (
    ArtifactRow,
    MetricRow,
    SettingRow,
    artifact_rows,
    metric_rows,
    setting_rows,
)
from inspect_compile.facts import Artifact, Metrics, Settings
from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited, recorded_of_compiles
from inspect_compile.tables.styled_text import Block, Stack, heading, styled
from inspect_compile.tables.text import clean, number_of, one_line

Row = TypeVar("Row", bound=msgspec.Struct)

ABOUT: Final = {
    "runtime_wrapper_orchestration": "what calls a graph: inputs are detached, outputs made views again",
    "compiled_fn_wrapper": "marks outputs that need no gradient, and makes views of outputs",
    "compiled_function_forward": "the forward of the torch.autograd.Function around a graph",
    "compiled_function_backward": "its backward",
    "backward_prologue": "makes the backward graph's inputs of saved values and gradients",
    "backward_epilogue": "what happens to the backward graph's outputs",
    "after_pre_grad_graph": "Dynamo's graph after the pre-grad passes, where they changed it",
    "before_joint_graph": "the graph before the joint passes, where they changed it",
    "dynamo_cpp_guards_str": "the tree of guards, in the order in which they are checked",
    "dynamo_error": "the traceback of a failed compile",
    "dynamo_graph_break_reason": "a graph break, with the traceback inside Dynamo",
}
"""Name of a text → what it is."""


def about(name: str) -> str:
    """What a text is; empty if not known."""
    if name.endswith("_MODIFIED_BYTECODE"):
        return "what Python runs instead of the frame"
    if name.endswith("_ORIGINAL_BYTECODE"):
        return "the rest of a function after a graph break, as Dynamo split it off"
    return ABOUT.get(name, "")


ARTIFACTS: Final[tuple[Column[ArtifactRow], ...]] = (
    Column("id", lambda row: row.graph),
    Column("text", lambda row: one_line(row.name), role="name", stretch=True, least=20, most=80, middle=True),
    Column("lines", lambda row: f"{row.lines:,}", right=True),
    Column("what it is", lambda row: about(row.name), role="dim", stretch=True, least=20, most=90, drop=1),
)
METRICS: Final[tuple[Column[MetricRow], ...]] = (
    Column("id", lambda row: row.graph),
    Column("of", lambda row: row.of, role="dim"),
    Column("metric", lambda row: one_line(row.name), role="name", most=60),
    Column("value", lambda row: one_line(_value(row.value)), stretch=True, least=20, most=160),
)
SETTINGS: Final[tuple[Column[SettingRow], ...]] = (
    Column("module", lambda row: one_line(row.module), role="dim", most=40),
    Column("setting", lambda row: one_line(row.name), role="name", stretch=True, least=20, most=70),
    Column(
        "value",
        lambda row: cell(one_line(row.value), "warn" if row.changed else ""),
        stretch=True,
        least=12,
        most=120,
    ),
    Column("default", lambda row: "" if row.changed else "yes", role="dim"),
    Column("before", lambda row: one_line(row.before), role="dim", optional=True, most=60),
    Column("since", lambda row: row.graph, role="dim"),
)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def artifacts(request: Request) -> Block:
    """The list of texts; with a name, the texts themselves."""
    rows = request.kept(artifact_rows(request.graphs))
    if not request.names:
        return _listed(request, "artifacts", ARTIFACTS, rows, "no text was recorded")
    nothing = styled(f"no text {' '.join(map(one_line, request.names))}", "dim")
    return Stack([_text(row) for row in rows[: request.limit]] or [nothing])


def artifact_text(row: ArtifactRow) -> str:
    """A text, and what of it was not recorded."""
    left = f"\n… {row.cut:,} more characters were not recorded" if row.cut else ""
    return f"{clean(row.text)}{left}"


def _text(row: ArtifactRow) -> Block:
    return Stack([heading(row.name, row.graph), styled(artifact_text(row))], gap=False)


def metrics(request: Request) -> Block:
    """torch's own counts of each compile."""
    rows = request.kept(metric_rows(request.graphs))
    return _listed(request, "metrics", METRICS, rows, "torch counted nothing")


def settings(request: Request) -> Block:
    """The settings; those that are not torch's defaults first."""
    rows = request.kept(setting_rows(request.dump))
    columns = SETTINGS
    if request.dump.run.origin:  # a log does not tell torch's defaults
        columns = tuple(column for column in SETTINGS if column.title != "default")
    return _listed(request, "settings", columns, rows, "no settings were recorded")


def _listed(request: Request, table: str, columns: Sequence[Column[Row]], rows: Sequence[Row], none: str) -> Block:
    if not rows:
        return styled(text_or_nothing(request.dump, none), "dim")
    return limited(columns, rows, request.limit, request.every(table), title=heading(number_of(len(rows), "row"), ""))


ARTIFACTS_TABLE: Final = DeclaredTable(artifacts, artifact_rows, recorded_of_compiles(Artifact))
METRICS_TABLE: Final = DeclaredTable(metrics, metric_rows, recorded_of_compiles(Metrics))
SETTINGS_TABLE: Final = DeclaredTable(
    settings, lambda graphs: setting_rows(graphs.dump), lambda graphs: graphs.dump.rows(Settings)
)
