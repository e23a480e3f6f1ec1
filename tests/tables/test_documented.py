"""docs/dump.md names every field of every derived row, and no other; the facts' own: test_dump_reference.py."""

import re
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from inspect_compile.analysis.caches.keys import KeyDifference
from inspect_compile.analysis.caches.lookups import LookupRow
from inspect_compile.analysis.compare.causes.records import LEVELS
from inspect_compile.analysis.compare.causes.records import Cause as DifferenceCause
from inspect_compile.analysis.compare.causes.records import Cost as CauseCost
from inspect_compile.analysis.compare.causes.texts import DiffLine
from inspect_compile.analysis.compare.differences import KINDS as DIFFERENCES
from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.proof import Proof
from inspect_compile.analysis.compare.ranks import RankSummary
from inspect_compile.analysis.compare.replays import Compiled
from inspect_compile.analysis.compare.second_compile import Agreement
from inspect_compile.analysis.compare.side_by_side import KernelSide, SideRow
from inspect_compile.analysis.compare.upgrade import Share, Upgrade, UpgradePart
from inspect_compile.analysis.compare.what_if import Tried
from inspect_compile.analysis.cost.extern_calls import ExternCall
from inspect_compile.analysis.cost.flame import FlameRow
from inspect_compile.analysis.cost.flop_rows import FlopRow
from inspect_compile.analysis.cost.kernel_rows import KernelRow
from inspect_compile.analysis.cost.rollup import Cost
from inspect_compile.analysis.cost.roofline import Bounds
from inspect_compile.analysis.cost.schedule_rows import ScheduleRow
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.frontend.aot_rows import AotRow
from inspect_compile.analysis.frontend.call_path import CallRow
from inspect_compile.analysis.frontend.call_tree import CompileRow
from inspect_compile.analysis.frontend.dynamo_rows import FrameRow, RecompileRow, SkipRow
from inspect_compile.analysis.frontend.frames import Cause
from inspect_compile.analysis.frontend.guards import GuardRow
from inspect_compile.analysis.frontend.startup import Bar, Lane, Region
from inspect_compile.analysis.frontend.time_sums import TimeSum
from inspect_compile.analysis.frontend.times import StageTime, TimerRun
from inspect_compile.analysis.frontend.traced import ArtifactRow, MetricRow, SettingRow
from inspect_compile.analysis.frontend.whole_start import RunLane, RunProcess, RunWait
from inspect_compile.analysis.fusion.graph_bytes import GraphBytes, TrafficSum
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import RefusalCount
from inspect_compile.analysis.fusion.pair_story import GroupStory, PairStory, Side
from inspect_compile.analysis.kernels.autotuning import Autotuned, Option
from inspect_compile.analysis.kernels.stage_counts import LineCounts
from inspect_compile.analysis.kernels.stage_lines import StageLine
from inspect_compile.analysis.lock.check import Change
from inspect_compile.analysis.lowering.inlining import Inlined
from inspect_compile.analysis.lowering.rows import LoweringRow
from inspect_compile.analysis.memory.holders import Holder
from inspect_compile.analysis.memory.saved import NeededActivation
from inspect_compile.analysis.numerics.causes import Counterfactual
from inspect_compile.analysis.numerics.coverage import Uncompared
from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow
from inspect_compile.analysis.numerics.statements import KernelStatements
from inspect_compile.analysis.numerics.verdicts import Judged
from inspect_compile.analysis.overview.logged import LoggedGraph
from inspect_compile.analysis.overview.looked_for import KindLookedFor
from inspect_compile.analysis.overview.node_rows import NodeSummary
from inspect_compile.analysis.overview.node_story import KinRow
from inspect_compile.analysis.overview.records import GraphSummary, RunSummary, Totals
from inspect_compile.analysis.runtime.cudagraphs import CudagraphRow
from inspect_compile.analysis.runtime.measured import MeasuredTime
from inspect_compile.dump import paths
from inspect_compile.facts import TABLES
from inspect_compile.finish import ARTIFACTS
from inspect_compile.graph.cost.buffer_traffic import BufferTraffic
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.fusion.ledger import Candidate
from inspect_compile.graph.kernels.binaries import Configuration
from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.graph.memory.replay import MemoryStep
from inspect_compile.graph.passes.changes import PassRow
from inspect_compile.share.sharing import SharedFile

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "dump.md").read_text(encoding="utf-8")
PIECES: dict[str, type[msgspec.Struct]] = {
    "key_difference": KeyDifference,
    "option": Option,
    "side": Side,
    "kin": KinRow,
    "cause": Cause,
    "kernel_side": KernelSide,
    "buffer_traffic": BufferTraffic,
    "cause_cost": CauseCost,
    "agreement": Agreement,
}
DERIVED: tuple[type[msgspec.Struct], ...] = (
    Candidate,
    Cost,
    ExternCall,
    LineCost,
    Totals,
    RunSummary,
    GraphSummary,
    LoggedGraph,
    Configuration,
    Autotuned,
    Annotated,
    StageLine,
    LineCounts,
    Inlined,
    FlopRow,
    FlameRow,
    LoweringRow,
    PassRow,
    KernelRow,
    Finding,
    KindLookedFor,
    Miss,
    RefusalCount,
    ScheduleRow,
    KernelTraffic,
    TrafficSum,
    GraphBytes,
    Bounds,
    MemoryStep,
    Holder,
    NeededActivation,
    CompileRow,
    FrameRow,
    SkipRow,
    RecompileRow,
    LookupRow,
    GuardRow,
    AotRow,
    ArtifactRow,
    MetricRow,
    SettingRow,
    CallRow,
    Bar,
    Lane,
    Region,
    RunLane,
    RunProcess,
    RunWait,
    StageTime,
    TimeSum,
    TimerRun,
    NodeSummary,
    PairStory,
    GroupStory,
    Tried,
    RankSummary,
    SideRow,
    Difference,
    DifferenceCause,
    DiffLine,
    Upgrade,
    Share,
    UpgradePart,
    Proof,
    Change,
    Compiled,
    SharedFile,
    MeasuredTime,
    Judged,
    Uncompared,
    KernelStatements,
    Counterfactual,
    NonFiniteRow,
    CudagraphRow,
)


def tag_of(kind: type[msgspec.Struct]) -> str:
    """What stands in `fact`."""
    return str(kind.__struct_config__.tag)


KINDS: dict[str, type[msgspec.Struct]] = {**{tag_of(kind): kind for kind in DERIVED}, **PIECES}


def documented() -> dict[str, list[str]]:
    """Kind → the fields of its table, in order."""
    found: dict[str, list[str]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        head, _, *rows = block.splitlines()
        kind = re.match(r"\| `(\w+)` \|", head)
        if kind is not None and kind[1] not in ("flops_kind",):
            found[kind[1]] = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    return found


def test_every_kind_of_row_is_described(dump_reference: ModuleType) -> None:
    assert set(documented()) == set(KINDS) | set(dump_reference.KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_field_is_described_once(kind: str) -> None:
    assert sorted(documented()[kind]) == sorted(KINDS[kind].__struct_encode_fields__)


def test_every_table_is_described() -> None:
    for table in TABLES:
        assert re.search(rf"^### {table}$|`{table}`", TEXT, re.MULTILINE), table


def test_every_file_is_described() -> None:
    names = list(ARTIFACTS)
    names += [paths.FX_READABLE, paths.FX_RUNNABLE, paths.FX_TRANSFORMED, paths.IR_PRE_FUSION, paths.IR_POST_FUSION]
    names += [paths.RUN, paths.SCRIPT_LOG, paths.FINISHED, paths.OVERVIEW, paths.SHARED, f"{paths.OUTPUT_CODE}.py"]

    assert [name for name in names if name not in TEXT] == []


def test_states_and_kinds_that_a_field_can_have_are_described() -> None:
    """The values that the facts' own docstrings list stand in the document too."""
    for values in (
        "placeholder",
        "fallback",
        "pool_allocate",
        "user_triton",
        "post_grad",
        "overruled",
        "passed over",
        *DIFFERENCES,
        *LEVELS,
    ):
        assert f"`{values}`" in TEXT
