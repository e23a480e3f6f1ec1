"""What can be observed of a compile.

Frozen records, one module for each stage. Knows neither torch nor how they are stored.
"""

from typing import Final

from inspect_compile.facts.aot import AotInput, AotMetadata, AotOutput, Artifact, Tangent
from inspect_compile.facts.base import Fact, Location, Tensor
from inspect_compile.facts.caches import CacheLookup, KernelLookup, KeyMember, KeyPart
from inspect_compile.facts.frontend import (
    Call,
    FailedGuard,
    Frame,
    GraphBreak,
    Guard,
    GuardedCalls,
    Recompile,
    ShapeGuard,
    SideEffect,
    Skip,
)
from inspect_compile.facts.fusion import FusionCombo, FusionLooks, FusionOrder, FusionRound
from inspect_compile.facts.fx import CallSite, DynamoNode, Graph, GraphEnd, JointNode, Node, Symbol
from inspect_compile.facts.kernels import (
    Binary,
    Kernel,
    KernelBody,
    MemoryPlan,
    OperationCount,
    Stage,
    StatementNodes,
    WrapperLine,
)
from inspect_compile.facts.lowering import Lowering, Realize
from inspect_compile.facts.metrics import Metrics, Settings
from inspect_compile.facts.numerics import (
    ALL_CALLS,
    Checked,
    FlaggedCalls,
    KeptInputs,
    LoadedLine,
    NonFinite,
    NumericsCall,
    NumericsRequest,
    Operand,
    StatementOperand,
    StatementsOf,
    StatementValue,
)
from inspect_compile.facts.origin import OriginRecords
from inspect_compile.facts.partition import Partition, Saved
from inspect_compile.facts.passes import Edit, Pass
from inspect_compile.facts.processes import (
    ImportSpan,
    ParentSeen,
    ProcessEnd,
    ProcessLife,
    Ready,
    Stretch,
    StretchSpan,
)
from inspect_compile.facts.run import (
    SCHEMA_VERSION,
    FirstCall,
    Hook,
    Imported,
    Omission,
    Remark,
    Removed,
    Run,
    Shared,
    Timed,
    TimerBegan,
)
from inspect_compile.facts.runtime import (
    Collective,
    CudaGraph,
    Launched,
    Measuring,
    OperatorLine,
    Recording,
    StepAccount,
    StepsProfiled,
    StepTime,
)
from inspect_compile.facts.schedule import Access, Counted, Operation
from inspect_compile.facts.tiling import Loop, LoopNest, Tiling
from inspect_compile.facts.trials import TrialRun, TriedChange, Tuned
from inspect_compile.facts.tuning import Choice, Chosen, Tuning

FACTS: Final[tuple[type[Fact], ...]] = (
    Hook, Imported, Stretch, ProcessLife, ProcessEnd, Ready, Timed, TimerBegan, FirstCall, Remark,
    CallSite, Graph, GraphEnd,
    Frame, Skip, GuardedCalls, GraphBreak, Recompile, SideEffect, ShapeGuard, Guard, CacheLookup, KernelLookup, KeyPart,
    Call,
    AotMetadata, Artifact, Metrics, Settings,
    DynamoNode, JointNode, Partition, Saved, Pass, Node, Symbol,
    Lowering, Realize, Operation,
    FusionRound, FusionLooks, FusionOrder, FusionCombo, Counted,
    Kernel, KernelBody, WrapperLine, MemoryPlan,
    Binary, Tuning, Choice, Chosen, Tiling, LoopNest,
    Launched, Measuring, StepAccount, StepTime, StepsProfiled, OperatorLine,
    CudaGraph, Collective, Checked, NumericsCall, KeptInputs, NonFinite, FlaggedCalls,
    StatementsOf, LoadedLine,
    TrialRun, Tuned, TriedChange,
    OriginRecords,
)  # fmt: skip
"""Every kind of fact; new ones are added here."""

TABLES: Final[dict[str, tuple[type[Fact], ...]]] = {
    table: tuple(fact for fact in FACTS if fact.table == table) for table in dict.fromkeys(fact.table for fact in FACTS)
}
"""Table name → the kinds of facts in its `.jsonl` file."""

__all__ = [
    "ALL_CALLS", "FACTS", "SCHEMA_VERSION", "TABLES", "Access", "AotInput", "AotMetadata", "AotOutput", "Artifact",
    "Binary", "CacheLookup", "Call", "CallSite", "Checked", "Choice", "Chosen", "Collective", "Counted",
    "CudaGraph", "DynamoNode", "Edit", "Fact", "FailedGuard", "FirstCall", "FlaggedCalls", "Frame", "FusionCombo",
    "FusionLooks", "FusionOrder", "FusionRound", "Graph", "GraphBreak", "GraphEnd", "Guard", "GuardedCalls", "Hook",
    "ImportSpan", "Imported",
    "JointNode", "KeptInputs", "Kernel", "KernelBody", "KernelLookup", "KeyMember", "KeyPart", "Launched", "LoadedLine",
    "Location", "Loop", "LoopNest", "Lowering", "Measuring", "MemoryPlan", "Metrics", "Node", "NonFinite",
    "NumericsCall", "NumericsRequest", "Omission", "Operand", "Operation", "OperationCount", "OperatorLine",
    "OriginRecords", "ParentSeen", "Partition", "Pass", "ProcessEnd", "ProcessLife",
    "Ready", "Realize", "Recompile", "Recording",
    "Remark", "Removed", "Run", "Saved", "Settings", "ShapeGuard", "Shared", "SideEffect", "Skip", "Stage",
    "StatementNodes", "StatementOperand", "StatementValue", "StatementsOf",
    "StepAccount", "StepTime", "StepsProfiled", "Stretch", "StretchSpan", "Symbol", "Tangent", "Tensor", "Tiling",
    "Timed", "TimerBegan", "TrialRun", "TriedChange", "Tuned", "Tuning", "WrapperLine",
]  # fmt: skip
