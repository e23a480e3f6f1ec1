"""What torch tells of each compile itself: texts, counts, and the settings that it was made with."""

from collections.abc import Iterator

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Artifact, Metrics, Settings
from inspect_compile.facts.compile_id import compile_order
from inspect_compile.graph import Graphs


class ArtifactRow(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="artifact_row"):
    """A text of a compile."""

    graph: str
    """The compile id."""
    name: str
    lines: int
    text: str
    cut: int = 0
    """Number of characters that are left out at its end."""


class MetricRow(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="metric_row"):
    """One of torch's counts of a compile."""

    graph: str
    """The compile id."""
    of: str
    """frame, backward or runtime."""
    name: str
    value: str | int | float | bool


class SettingRow(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="setting_row"):
    """One setting of torch, at the first compile, or at a later one where its module has changed."""

    graph: str
    """The compile id."""
    module: str
    name: str
    value: str
    """As JSON."""
    changed: bool
    """It has not torch's default."""
    before: str = ""
    """Its value at the compile before, if that was another one."""


def artifact_rows(graphs: Graphs) -> list[ArtifactRow]:
    """The texts of all compiles, or of the one that made `graph`; in the order of their compiles."""
    return [
        ArtifactRow(graph=row.graph, name=row.name, lines=row.text.count("\n") + 1, text=row.text, cut=row.cut)
        for row in sorted(graphs.of_compiles(Artifact), key=lambda row: compile_order(row.graph))
    ]


def metric_rows(graphs: Graphs) -> list[MetricRow]:
    """The counts of all compiles, or of the one that made `graph`."""
    return [
        MetricRow(graph=row.graph, of=row.of, name=name, value=value)
        for row in graphs.of_compiles(Metrics)
        for name, value in sorted(row.values.items())
    ]


def setting_rows(dump: Dump) -> list[SettingRow]:
    """All settings of the first compile, those that are not torch's defaults first, and of later ones what changed."""
    return sorted(_settings(dump), key=lambda row: not row.changed)


def _settings(dump: Dump) -> Iterator[SettingRow]:
    before: dict[str, Settings] = {}
    for row in dump.rows(Settings):
        earlier = before.get(row.module)
        old = earlier.values if earlier is not None else {}
        changed = frozenset(row.changed)
        for name, value in sorted(row.values.items()):
            if earlier is None or old.get(name) != value:
                yield SettingRow(
                    graph=row.graph,
                    module=row.module,
                    name=name,
                    value=value,
                    changed=name in changed,
                    before=old.get(name, ""),
                )
        before[row.module] = row
