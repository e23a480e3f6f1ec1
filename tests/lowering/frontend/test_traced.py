"""What torch tells of a compile itself, held against the structured trace of the same run that tlparse reads."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import torch

from inspect_compile.analysis.dumps.hooks import hooks
from inspect_compile.analysis.frontend.aot_rows import aot_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import AotMetadata, Artifact, Frame, Metrics, Settings, ShapeGuard, SideEffect
from inspect_compile.graph import Graphs
from inspect_compile.tables import table
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.text import file_name
from tests.conftest import run_once
from tests.private_names import astray
from tests.running import inspected

PROGRAM: Final = Path(__file__).parents[1] / "programs" / "traced.py"
_WRAPPERS: Final = (
    "runtime_wrapper_orchestration",
    "compiled_fn_wrapper",
    "compiled_function_forward",
    "compiled_function_backward",
    "backward_prologue",
    "backward_epilogue",
    "subclass_wrapper",
)
_TOGETHER: Final = "aot_autograd_runtime_wrappers"
pytestmark = pytest.mark.skipif(torch.__version__ < "2.13", reason="torch does not make these texts")


class Told(NamedTuple):
    """One record of torch's trace."""

    compile_id: str
    name: str
    record: Any
    payload: str


def trace(folder: Path) -> Iterator[Told]:
    """The records, in order, each with what stands below it."""
    for file in sorted(folder.iterdir()):
        for part in re.split(r"^V\d{4} [^\]]*\] ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, below = part.partition("\n")
            record = json.loads(head)
            name = next((name for name in record if name in ("artifact", *OWN)), "")
            told = record.get(name)
            payload = "\n".join(line.removeprefix("\t") for line in below.splitlines())
            compile_id = f"{record.get('frame_id')}/{record.get('frame_compile_id')}"
            yield Told(compile_id, told["name"] if name == "artifact" else name, told, payload)


OWN: Final = ("dynamo_cpp_guards_str", "guard_added_fast", "compilation_metrics", "bwd_compilation_metrics")


@pytest.fixture(scope="module")
def folder(shared_folder: Path) -> Path:
    folder = shared_folder / "traced_by_torch"
    done = run_once(
        folder,
        lambda folder: inspected([PROGRAM], folder, environment={"TORCH_TRACE": str(folder / "trace")}),
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def dump(folder: Path) -> Dump:
    return Dump(folder / "dump")


@pytest.fixture(scope="module")
def told(folder: Path) -> list[Told]:
    found = list(trace(folder / "trace"))
    assert len(found) > 50
    return found


def test_texts_are_those_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    ours = Counter((row.graph, row.name, row.text.rstrip()) for row in dump.rows(Artifact) if row.name in _WRAPPERS)
    assert ours == Counter(_wrappers(told))
    assert {name for _, name, _ in ours} == set(_WRAPPERS)


def _wrappers(told: list[Told]) -> Iterator[tuple[str, str, str]]:
    """Compile id, name and text of each; 2.15 writes those of a compile together, below comments with their names."""
    for one in told:
        if one.name in _WRAPPERS:
            yield one.compile_id, one.name, one.payload.rstrip()
        elif one.name == _TOGETHER:
            _, *parts = re.split(r"^# (\w+)\n(?=def )", one.payload, flags=re.MULTILINE)
            for name, text in zip(parts[::2], parts[1::2], strict=True):
                if name in _WRAPPERS:
                    yield one.compile_id, name, text.rstrip()


def test_bytecode_is_that_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    torchs = {(one.compile_id, one.name): one.payload.rstrip() for one in told if one.name.endswith("_BYTECODE")}
    ours = {(row.graph, row.name): row.text.rstrip() for row in dump.rows(Artifact)}
    assert torchs
    assert {key: ours.get(key) for key in torchs} == torchs
    assert ("0/0", "forward_MODIFIED_BYTECODE") in ours


def test_the_tree_of_guards_is_that_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    torchs = {
        one.compile_id: one.payload.partition("\nGuard latency")[0].strip()
        for one in told
        if one.name == "dynamo_cpp_guards_str"
    }
    ours = {row.graph: row.text.strip() for row in dump.rows(Artifact) if row.name == "dynamo_cpp_guards_str"}
    assert ours == torchs


def test_side_effects_have_the_lines_that_make_them(dump: Dump) -> None:
    rows = [row for row in dump.rows(SideEffect) if row.graph == "0/0"]
    found = {(row.source, row.type): [(file_name(one.file), one.code) for one in row.lines] for row in rows}
    assert found == {
        ("L['self']", "Net"): [("traced.py", "self.calls += 1")],
        ("G['TOTAL']", ""): [("traced.py", "TOTAL += 1")],
        ("G['SEEN']", "list"): [("traced.py", "SEEN.append(by)")],
    }


def test_conditions_on_sizes_are_those_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    torchs = [(one.compile_id, one.record["expr"]) for one in told if one.name == "guard_added_fast"]
    ours = [row for row in dump.rows(ShapeGuard) if row.what == "guard"]
    assert [(row.graph, row.expression) for row in ours] == torchs
    assert "if by > 2:" in [row.where.code for row in ours if row.where is not None]


def test_counts_are_those_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    """But for the durations that torch adds after it."""
    torchs = [one for one in told if one.name.endswith("compilation_metrics")]
    ours = dump.rows(Metrics)
    assert [(row.of, row.graph) for row in ours] == [
        ("backward" if one.name.startswith("bwd") else "frame", one.compile_id) for one in torchs
    ]
    for row, one in zip(ours, torchs, strict=True):
        for name in ("guard_count", "graph_op_count", "graph_input_count", "cache_size", "fail_type", "co_name"):
            assert row.values.get(name) == one.record[name], name


def test_settings_are_told_once_and_where_they_are_not_the_default(dump: Dump) -> None:
    rows = dump.rows(Settings)
    assert Counter(row.module for row in rows)["torch._inductor.config"] >= 1
    first = next(row for row in rows if row.module == "torch._dynamo.config")
    assert int(first.values["recompile_limit"]) == torch._dynamo.config.recompile_limit
    assert "recompile_limit" not in first.changed


def test_what_is_written_and_what_is_a_view(dump: Dump) -> None:
    rows = aot_rows(Graphs(dump))
    changed = {(row.graph, row.index): row.changes for row in rows if row.changed}
    assert set(changed.values()) == {("data",)}
    assert "0/0" in {graph for graph, _ in changed}
    kinds = {row.kind for row in rows if row.what == "output"}
    assert "non_alias" in kinds
    assert kinds & {"alias_of_input", "is_input"}
    assert any(row.what == "tangent" and row.tensor is not None for row in rows)
    assert len(dump.rows(AotMetadata)) == len({row.graph for row in dump.rows(AotMetadata)})


def test_inner_tensors_of_subclasses_are_those_of_torchs_trace(dump: Dump, told: list[Told]) -> None:
    torchs = {one.compile_id: one.payload for one in told if one.name == "aot_forward_graph_fw_subclass_metadata"}
    ours = {row.graph: row for row in dump.rows(AotMetadata) if row.inner_inputs}
    assert torchs.keys() == ours.keys()
    assert len(ours) == 1
    for graph, row in ours.items():
        assert torchs[graph].count("InputAliasInfo(") == len(row.inner_inputs) == 2 * len(row.inputs) == 4
        assert torchs[graph].count("OutputAliasInfo(") == len(row.inner_outputs) > len(row.outputs)
        assert [one.changes for one in row.inner_inputs] == [("data",), ("data",), (), ()]
    rows = [row for row in aot_rows(Graphs(dump)) if row.what.startswith("inner ")]
    assert [row.index for row in rows if row.what == "inner input"] == [0, 1, 2, 3]


def test_a_failure_has_its_traceback_and_its_line(dump: Dump) -> None:
    failed = next(row for row in dump.rows(Frame) if row.function == "fails")
    assert failed.failed_at is not None
    assert failed.failed_at.code == "print(y)"
    text = next(row.text for row in dump.rows(Artifact) if row.name == "dynamo_error" and row.graph == failed.graph)
    assert text.startswith("Traceback")
    assert "print(y)" in text
    assert "inspect_compile" not in text


@pytest.mark.parametrize("name", ["aot", "artifacts", "metrics", "settings"])
def test_each_is_a_table(name: str, dump: Dump) -> None:
    assert len(plain_text(table(name, Graphs(dump)), 200).splitlines()) > 5


def test_no_hook_fails(dump: Dump) -> None:
    assert astray(hooks(dump)) == {}
