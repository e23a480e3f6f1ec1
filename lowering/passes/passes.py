"""What runs over the FX graphs between Dynamo and lowering: passes and patterns, and what each of them changed.

The graph is compared wherever one begins or ends; a change since the last comparison belongs to the innermost one
running. A pattern is compared only if its nodes, or their users, changed: most matches change nothing. Edits of other
nodes by a pattern, which no pattern of torch's makes, would be attributed to the pass.
"""

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.facts.passes import Edit, Pass
from inspect_compile.lowering.core.artifacts import record_text
from inspect_compile.lowering.core.scopes import SCOPES, aot_graph_name, compile_id, torch_object
from inspect_compile.lowering.core.values import place
from inspect_compile.lowering.passes.inherited import Origin, aot_id, carry_over, forget, inherit, origins_in
from inspect_compile.lowering.passes.joint import record_joint
from inspect_compile.lowering.passes.pass_edits import Snapshot
from inspect_compile.lowering.passes.pass_names import matcher_name, pattern_name
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import inductor as inductor_names
from inspect_compile.torch_compat import passes as names

PROBE = "lowering.passes"


@dataclass
class _Row:
    """A Pass while it is being recorded."""

    index: int
    parent: int | None
    kind: str
    name: str
    began: float
    watched: float
    """Seconds that recording had taken when it began."""
    defined: str = ""
    before: int = 0
    after: int = 0
    matched: tuple[str, ...] = ()
    edits: list[Edit] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""


_SAME: Final = ("index", "parent", "kind", "name", "defined", "before", "after", "matched", "error")
"""Fields that a Pass has from its row as they are."""


@dataclass
class _Stage:
    """The passes over one graph."""

    name: str
    fx_graph: Any
    owner: Any
    """The graph's GraphModule."""
    seen: Snapshot
    rows: list[_Row]
    key: tuple[str, str]
    """Key for inherited origins of its nodes: what is compiled, and the path of a nested graph."""
    open: list[_Row] = field(default_factory=list)
    """Innermost last; the first is the stage itself."""
    first: Snapshot | None = None
    """The graph as it was at the beginning, of stages after which it is not recorded elsewhere."""

    @property
    def has_edits(self) -> bool:
        """True if any of its passes changed something."""
        return any(row.edits or row.moved for row in self.rows)


class _Running(threading.local):
    """The stages that run on this thread, and what is about to begin. Cleared when the outermost ends."""

    def __init__(self) -> None:
        self.stages: list[_Stage] = []
        self.rows: list[_Row] = []
        self.watched = 0.0
        self.function = ""
        """Where the next pass is defined, and what it matches."""
        self.matcher = ""


_PRE_GRAD: Final = "pre_grad"
_JOINT: Final = "joint"
_RUNNING = _Running()
NUMBERS: Final = itertools.count()
"""Numbers of passes."""


def _graph_of(subject: Any) -> Any:
    """The FX graph of a GraphModule, or the graph itself; None for anything else."""
    graph = getattr(subject, "graph", subject)
    return graph if hasattr(graph, "nodes") else None


def _subject(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


def _stage_of(graph: Any) -> _Stage | None:
    """The open stage, if it is about this graph: patterns are traced and cleaned up in between."""
    stage = _RUNNING.stages[-1] if _RUNNING.stages else None
    if stage is None or graph is None:
        return None
    return stage if graph is stage.fx_graph or getattr(graph, "owning_module", None) is stage.owner else None


def _look(stage: _Stage, touched: list[Any] | None = None, matched: Iterable[Any] = ()) -> int:
    """Attribute what changed since the last comparison to the innermost row; returns the graph's number of nodes.

    With `touched`, only nodes that were added or removed, and those, are compared. New nodes without a source line
    inherit that of what they replace: `matched` are the nodes of a pattern.
    """
    began = AtStart.perf_counter()
    if touched is None:
        new = Snapshot(stage.fx_graph)
        edits, moved, lost = stage.seen.differs(new)
    else:
        new = stage.seen
        edits, moved, lost = new.follow(stage.fx_graph, touched)
    if edits or moved:
        row = stage.open[-1] if len(stage.open) > 1 else _between(stage)
        origins = inherit(*stage.key, lost, matched) if lost else origins_in(*stage.key)
        row.edits += [_with_line(edit, origins) for edit in edits] if origins else edits
        row.moved += moved
    stage.seen = new
    _RUNNING.watched += AtStart.perf_counter() - began
    return len(new)


def _with_line(edit: Edit, origins: Mapping[str, Origin]) -> Edit:
    found = origins.get(edit.node) if edit.where is None else None
    return edit if found is None else msgspec.structs.replace(edit, where=found.where)


def _between(stage: _Stage) -> _Row:
    """The row for changes that no pass made."""
    row = _row(stage, "unknown", f"after {stage.rows[-1].name}")
    row.before = row.after = len(stage.seen)
    return row


def _row(stage: _Stage, kind: str, name: str, defined: str = "") -> _Row:
    around = next((open_stage.open for open_stage in (stage, *reversed(_RUNNING.stages)) if open_stage.open), None)
    parent = around[-1].index if around is not None else None
    row = _Row(next(NUMBERS), parent, kind, name, AtStart.perf_counter(), _RUNNING.watched, defined)
    stage.rows.append(row)
    return row


def _enter(stage: _Stage, kind: str, name: str, defined: str = "") -> _Row:
    size = _look(stage)
    row = _row(stage, kind, name, defined)
    row.before = size
    stage.open.append(row)
    row.began, row.watched = AtStart.perf_counter(), _RUNNING.watched
    return row


def _leave(stage: _Stage, row: _Row, error: BaseException | None = None) -> None:
    if row not in stage.open:
        return
    now = AtStart.perf_counter()
    row.seconds = now - row.began - (_RUNNING.watched - row.watched)
    row.after = _look(stage)
    if error is not None:
        row.error = f"{type(error).__name__}: {str(error)[:300]}"
    del stage.open[stage.open.index(row) :]


def _open(name: str, module: Any) -> _Stage | None:
    graph = _graph_of(module)
    if graph is None:
        return None
    running = _RUNNING
    is_early = name == _PRE_GRAD
    key, nested = (compile_id() or "") if is_early else aot_id(aot_graph_name()), ""
    if running.stages:
        children: Any = getattr(running.stages[-1].owner, "named_children", tuple)()
        inner = next((child for child, found in children if found is module), "?")
        name = f"{name}/{inner}"
        nested = f"{running.stages[-1].key[1]}/{inner}".strip("/")
    elif is_early:
        forget(key)
    elif name == _JOINT:
        carry_over(compile_id() or "", key, graph.nodes)
    stage = _Stage(name, graph, module, Snapshot(graph), running.rows, (key, nested))
    row = _row(stage, "stage", name)
    row.before = len(stage.seen)
    stage.open.append(row)
    running.stages.append(stage)
    return stage


def _close(probes: Probes, stage: _Stage, module: Any, error: BaseException | None = None) -> None:
    running = _RUNNING
    if stage not in running.stages:
        return
    try:
        graph = _graph_of(module)
        if graph is not None:
            stage.fx_graph = graph
        _leave(stage, stage.open[0], error)
    finally:  # it holds the compiler's graph
        del running.stages[running.stages.index(stage) :]
    if running.stages:
        return
    rows, running.rows = running.rows, []
    label = stage.name
    debug = torch_object(inductor_names.VIRTUALIZED)
    scope = SCOPES.of_context(debug.debug) if debug is not None and label == "post_grad" else None
    graph_name = scope.graph if scope is not None else compile_id() or ""
    probes.sink.add_all(_fact(row, graph_name, label) for row in rows)
    probes.sink.flush()


def _record_text(probes: Probes, stage: _Stage) -> None:
    """Record the graph before the joint passes, and after the pre-grad passes, if they changed it: where it is the same
    it is recorded as what stands beside them.
    """
    if stage.has_edits and probes.keeps_texts:
        if stage.first is not None:
            record_text(probes, "before_joint_graph", "\n".join(stage.first.lines()))
        elif stage.name == _PRE_GRAD:
            record_text(probes, "after_pre_grad_graph", "\n".join(Snapshot(stage.fx_graph).lines()))
    stage.first = None


def _fact(row: _Row, graph: str, stage: str) -> Pass:
    same = {name: getattr(row, name) for name in _SAME}
    seconds = round(max(row.seconds, 0.0), 6)
    return Pass(graph=graph, stage=stage, seconds=seconds, edits=tuple(row.edits), moved=tuple(row.moved), **same)


def install_stages(probes: Probes) -> None:
    """Hook the three stages, and the one edit between two of them."""

    def staged(label: str) -> dict[str, Any]:
        def before(instance: Any, args: Any, kwargs: Any) -> _Stage | None:
            stage = _open(label, _subject(args, kwargs))
            if stage is not None and stage.name == _JOINT and probes.keeps_texts:
                stage.first = stage.seen.copy()
            return stage

        def after(stage: _Stage | None, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
            if stage is not None:
                module = result if _graph_of(result) is not None else stage.owner
                _close(probes, stage, module)
                if stage.name == _JOINT:
                    record_joint(probes, module)
                _record_text(probes, stage)

        def failed(stage: _Stage | None, instance: Any, args: Any, kwargs: Any, error: BaseException) -> None:
            if stage is not None:
                _close(probes, stage, stage.owner, error)

        return {"before": before, "after": after, "failed": failed}

    def before(instance: Any, args: Any, kwargs: Any) -> tuple[_Stage, _Row] | None:
        stage = _open("post_grad", _subject(args, kwargs))
        return None if stage is None else (stage, _enter(stage, "function", "view_to_reshape"))

    def after(state: tuple[_Stage, _Row] | None, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if state is not None:
            _leave(*state)
            _close(probes, state[0], state[0].owner)

    probes.wrap(PROBE, names.PRE_GRAD, **staged(_PRE_GRAD))
    probes.wrap(PROBE, names.JOINT, **staged(_JOINT))
    probes.wrap(PROBE, names.POST_GRAD, **staged("post_grad"))
    probes.wrap(PROBE, names.VIEW_TO_RESHAPE, before=before, after=after)


def install_observers(probes: Probes) -> None:
    """Hook what torch runs its passes in."""
    opened: dict[int, tuple[_Stage, _Row]] = {}
    """The open observers, by identity."""

    def applying(observer: Any, args: Any, kwargs: Any) -> None:
        _RUNNING.function = place(_subject(args, kwargs)) if _RUNNING.stages else ""

    def entered(state: Any, observer: Any, args: Any, kwargs: Any, result: Any) -> None:
        stage = _stage_of(_graph_of(getattr(observer, "gm", None)))
        function, _RUNNING.function = _RUNNING.function, ""
        matcher, _RUNNING.matcher = _RUNNING.matcher, ""
        if stage is not None:
            opened[id(observer)] = stage, _enter(stage, "pass", matcher or str(observer.passname), function)

    def leaving(observer: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        found = opened.pop(id(observer), None)
        if found is not None:
            error = args[1] if len(args) > 1 else None
            _leave(*found, error)

    for name in names.OBSERVER_APPLIES:
        probes.wrap(PROBE, name, before=applying)
    probes.wrap(PROBE, names.OBSERVER_ENTER, after=entered)
    probes.wrap(PROBE, names.OBSERVER_EXIT, before=leaving)


def install_patterns(probes: Probes) -> None:
    """Hook pattern passes and their entries."""

    def matching(matcher: Any, args: Any, kwargs: Any) -> None:
        if _stage_of(_graph_of(_subject(args, kwargs))) is not None:
            _RUNNING.matcher = matcher_name(matcher)

    def matched(entry: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[_Stage, _Row, Any, Any] | None:
        match, graph = args[0], args[1]
        stage = _stage_of(graph)
        if stage is None:
            return None
        name, defined = pattern_name(entry)
        row = _row(stage, "pattern", name, defined)
        row.matched = tuple([node.name for node in match.nodes])
        row.before = row.after = len(graph.nodes)
        stage.open.append(row)
        nodes = tuple(dict.fromkeys(itertools.chain(match.nodes, *(node.users for node in match.nodes))))
        row.began, row.watched = AtStart.perf_counter(), _RUNNING.watched
        return stage, row, nodes, list(map(_state, nodes))

    def replaced(state: Any, entry: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        if state is None:
            return
        stage, row, nodes, before = state
        row.seconds = AtStart.perf_counter() - row.began
        touched = [node for node, was in zip(nodes, before, strict=True) if not _is_same(was, _state(node))]
        if touched or len(args[1].nodes) != row.before:
            row.after = _look(stage, [node for node in touched if not node._erased], args[0].nodes)
        if row in stage.open:
            del stage.open[stage.open.index(row) :]

    probes.wrap(PROBE, names.MATCHER, before=matching)
    for name in (names.LOWERING_PATTERN, names.GRAPH_PATTERN, names.REPLACEMENT_PATTERN):
        probes.wrap(PROBE, name, before=matched, after=replaced)


def _state(node: Any) -> tuple[Any, ...]:
    """What changes about a node if it, or one of its users, is edited."""
    return node._erased, len(node.users), node.target, node.args, node.kwargs


def _is_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """True if equal: numbers by value, everything else by identity."""
    return all(was is now or (type(was) is int and was == now) for was, now in zip(one, other, strict=True))


def _functions(listed: tuple[Name, ...]) -> Callable[[Probes], None]:
    """An installer for functions that edit a graph outside of torch's passes, with the graph as first argument."""

    def install(probes: Probes) -> None:
        for name in listed:
            function = name.attribute.rpartition(".")[2]

            def before(instance: Any, args: Any, kwargs: Any, function: str = function) -> tuple[_Stage, _Row] | None:
                stage = _stage_of(_graph_of(instance if _graph_of(instance) is not None else _subject(args, kwargs)))
                return None if stage is None else (stage, _enter(stage, "function", function))

            def after(state: tuple[_Stage, _Row] | None, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
                if state is None:
                    return
                stage, row = state
                made = _graph_of(result)
                if made is not None and made is not stage.fx_graph:
                    stage.fx_graph, stage.owner = made, result
                _leave(stage, row)

            probes.wrap(PROBE, name, before=before, after=after)

    return install


install_pre_grad = _functions(names.PRE_GRAD_FUNCTIONS)
install_joint = _functions(names.JOINT_FUNCTIONS)
install_quantization = _functions((names.QUANT_LIFT_UP, names.CONCAT_LINEAR))
install_dead_code = _functions((names.DEAD_CODE,))
