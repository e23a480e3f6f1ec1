"""What happened to the run, to a frame or to a graph, in words; also if there is nothing else to show."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from inspect_compile.analysis.caches.lookups import outcome_of
from inspect_compile.analysis.compare.ranks import agreement, verdict_text
from inspect_compile.analysis.compare.replays import replays
from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.analysis.dumps.nothing import nothing
from inspect_compile.analysis.dumps.parts import (
    ProcessDump,
    as_compiled,
    asked,
    asked_of_replay,
    is_only_parts,
    parts,
    run_around,
)
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.findings.frontend.recompiles import change_words
from inspect_compile.analysis.frontend.guards import merged
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.analysis.runtime.measured import measured_graph
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Frame, GraphBreak, GraphEnd, Guard, Launched, Location, Recompile
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.overview.nothing import advice_for, in_one_line
from inspect_compile.tables.caches.lookup_text import OUTCOMES, cache_name
from inspect_compile.tables.columns import Column, picked, used
from inspect_compile.tables.compare.ranks import part_text
from inspect_compile.tables.compare.replays import COLUMNS as REPLAY_COLUMNS
from inspect_compile.tables.frontend.guards import COLUMNS as GUARD_COLUMNS
from inspect_compile.tables.runtime.cudagraphs import function_text, graph_calls_text
from inspect_compile.tables.runtime.measured import times_text
from inspect_compile.tables.styled_text import StyledLine, joined, styled
from inspect_compile.tables.text import clean, number_of, one_line, seconds_text
from inspect_compile.tui.models.outline import program
from inspect_compile.tui.models.sheet import Record, Table
from inspect_compile.tui.models.source import short_path

_WIDTH: Final = 84
"""Width of a table on a page, in columns."""
_MOST_GUARDS: Final = 200
_MOST_GRAPHS: Final = 20
REPLAY: Final = picked(REPLAY_COLUMNS, "compile", "kernels", "groups", "read", "written", "registers", "code")
GUARDS: Final = picked(GUARD_COLUMNS, "of", "what must hold", "guard")
"""The columns of `show replays` and `show guards` for which a page has room."""


def run_page(dump: Dump, *, has_program: bool) -> list[StyledLine]:
    """The run: what was run, how it ended, what was recorded, and what to do if that is nothing."""
    run = dump.run
    state = run_state(dump)
    shown: list[StyledLine] = [styled(program(dump), "title"), StyledLine()]
    facts = [
        ("command", " ".join(run.argv)),
        ("versions", ", ".join(f"{name} {version}" for name, version in run.versions.items())),
        ("device", run.device),
        ("started", run.started),
        ("took", seconds_text(run.seconds) if run.seconds is not None else ""),
        ("status", run.status + (f", exit status {run.exit_code}" if run.exit_code is not None else "")),
        ("in", short_path(run.cwd, "")),
        ("dump", str(dump.root)),
        ("replay of", run.replay_of),
        ("with", asked(run.target, run.config, run.denied) if run.replay_of else ""),
        ("environment", " ".join(f"{name}={value}" for name, value in run.environment.items())),
    ]
    if state.text:
        shown += [styled(_sentence(state.text), "warn" if not state.is_growing else "accent"), StyledLine()]
    shown += [*_seen(dump, state.is_growing, has_program), StyledLine()]
    shown += [_fact(name, value) for name, value in facts if value]
    shown += _runtime(dump)
    if run.omitted:
        shown += _section("Incomplete", (styled(f"▲ {one_line(row.message)}", "warn") for row in run.omitted))
    if run.notes:
        shown += _section("Notes", (styled(f"· {note}") for note in run.notes))
    if broken := disabled(dump):
        lines = (
            joined((f"✗ {clean(hook.target)}", "bad"), (f"  {hook.state} {one_line(hook.reason)}", "dim"))
            for hook in broken
        )
        shown += _section("What could not be recorded", lines)
    if dump.damaged:
        shown += [StyledLine(), styled(f"{number_of(dump.damaged, 'line')} of its tables could not be read.", "warn")]
    if dump.left_out:
        shown += [StyledLine(), styled(_sentence(dump.left_out), "warn")]
    there = [part for part in parts(dump) if part.replay is None]
    again = [part for part in parts(dump) if part.replay is not None]
    if again:
        shown += _section("Compiled again", map(_replay, again), "↵ on the left opens one")
        shown += [styled(f"inspect-compile show {dump.name} replays", "dim")]
    if there:
        compiled = as_compiled(dump)
        lines = (_part(part if part.rank is None else compiled[part.rank]) for part in there)
        shown += _section("Other processes of this run", lines, "↵ on the left opens one")
        if len(compiled) > 1 and not state.is_growing:
            shown += [StyledLine(), _verdict(dump)]
    return shown


def _section(title: str, lines: Iterable[StyledLine], hint: str = "") -> list[StyledLine]:
    """A title with a hint beside it, and what stands below it."""
    return [StyledLine(), joined((title, "title"), (f"   {hint}" if hint else "", "dim")), *lines]


def _runtime(dump: Dump) -> list[StyledLine]:
    """A line for each graph; empty if nothing was recorded."""
    shown: list[StyledLine] = []
    if rows := cudagraph_rows(Graphs(dump)):
        names = dict.fromkeys(row.graph for row in rows)
        shown += _section("CUDA graphs", (), f"inspect-compile show {dump.name} cudagraphs")
        for name in list(names)[:_MOST_GRAPHS]:
            own = [row for row in rows if row.graph == name]
            role = "warn" if any(row.skipped for row in own) else ""
            shown.append(joined((name or function_text(own[0]), "name"), (f"  {graph_calls_text(own)}", role)))
        if len(names) > _MOST_GRAPHS:
            shown.append(styled(f"… {len(names) - _MOST_GRAPHS:,} more graphs", "dim"))
    if dump.rows(Launched):
        shown += _section("Measured", (), f"inspect-compile show {dump.name} measured")
        for graph in dump.outermost()[:_MOST_GRAPHS]:
            if (found := measured_graph(CompiledGraph(dump, graph.graph))) is not None:
                shown.append(joined((graph.graph, "name"), f"  {times_text(found)}"))
    return shown


def part_page(path: str) -> list[StyledLine]:
    """Another process of the run, on one line, and how to go there."""
    dump = Dump(Path(path))
    state = run_state(dump)
    name = "The run" if run_around(dump) is None else dump.root.name.replace("_", " ")
    shown: list[StyledLine] = [joined((name, "title"), ("   ↵ opens it", "dim")), StyledLine()]
    shown += [styled(_sentence(state.text), "warn"), StyledLine()] if state.text else []
    if (around := run_around(dump)) is not None and dump.run.replay_of:
        shown += [_replay(part) for part in parts(around) if part.dump.root == dump.root]
        shown += [StyledLine(), *_compared(around, dump)]
    elif around is not None:
        shown += [_part(part) for part in parts(Dump(dump.root.parent)) if part.dump.root == dump.root]
    else:
        shown += [_part(part) for part in parts(dump)]
    return shown


def _part(part: ProcessDump) -> StyledLine:
    return joined((f"{part.name:12}", "name"), f"  {part_text(part)}")


def _replay(part: ProcessDump) -> StyledLine:
    run = part.dump.run
    options = asked_of_replay(part) or "as it was"
    return joined((f"{part.name:12}", "name"), f"  {one_line(run.replay_of)}, {one_line(options)}")


def _compared(around: Dump, dump: Dump) -> list[StyledLine]:
    """The differences between a replay and the first compile of its graph."""
    shown: list[StyledLine] = []
    for part in parts(around):
        if part.dump.root == dump.root and part.replay is not None:
            for found in replays(around, only=[part.replay]):
                for row, differences in found.again:
                    shown += [*_table(REPLAY, [found.first, row]), StyledLine()]
                    if row.exception is not None:
                        shown += _failed(row.exception)
                    if row.same_code:
                        shown.append(styled("The generated code is the same.", "good"))
                    shown += [joined(("● ", "accent"), one_line(found.message)) for found in differences]
            shown += [StyledLine(), styled(f"inspect-compile show {around.root} replays", "dim")]
    return shown


def _table(columns: Sequence[Column[Record]], rows: Sequence[Record]) -> list[StyledLine]:
    """A small table as lines of a page: the titles, then the rows."""
    table = Table.of(used(columns, rows), rows, [""] * len(rows), [None] * len(rows))
    lines = [table.titles(_WIDTH), *(table.spans(index, _WIDTH) for index in range(len(rows)))]
    return [StyledLine(tuple(spans)) for spans in lines]


def _verdict(dump: Dump) -> StyledLine:
    found = agreement(as_compiled(dump))
    role = "bad" if found.differences else "good"
    return joined((verdict_text(found), role), (f"   inspect-compile show {dump.name} ranks", "dim"))


def _seen(dump: Dump, is_growing: bool, has_program: bool) -> list[StyledLine]:
    graphs = dump.outermost()
    frames = {frame.graph for frame in dump.rows(Frame)}
    breaks = len(dump.rows(GraphBreak))
    failed = [end for end in dump.rows(GraphEnd) if end.status == "failed"]
    failed_frames = [frame for frame in dump.rows(Frame) if frame.status == "failed"]
    if graphs:
        parts = [number_of(len(frames), "frame"), number_of(len(graphs), "graph")]
        parts += [number_of(breaks, "graph break")] if breaks else []
        shown: list[StyledLine] = [joined(", ".join(parts), ("   choose one on the left", "dim"))]
    elif dump.run.targets and (is_growing or nothing(dump) is None):
        sentence = f"Graphs run here as they are, and are compiled for {', '.join(dump.run.targets)}"
        shown = [joined(sentence, ("   choose one on the left", "dim"))]
    elif is_only_parts(dump):
        shown = [styled("This process compiled nothing; other processes of the run did.")]
    elif is_growing:
        where = "  0 shows what it prints." if has_program else ""
        shown = [styled(f"Nothing has been compiled yet; this fills as the program runs.{where}", "accent")]
    else:
        shown = [styled(_why_nothing(dump), "warn")]
    for frame in failed_frames:
        shown += [StyledLine(), styled(f"✗ {frame.graph} {frame.function}", "bad"), *_failed(frame.reason or "")]
    for end in failed:
        shown += [StyledLine(), styled(f"✗ the compile of {end.graph} failed", "bad"), *_failed(end.exception or "")]
    return shown


def _failed(exception: str) -> list[StyledLine]:
    advice = advice_for(exception)
    return [*_text(exception, "bad"), *([styled(f"→ {advice}", "good")] if advice is not None else [])]


def _why_nothing(dump: Dump) -> str:
    why = nothing(dump)
    return "" if why is None else f"{why.head.capitalize()}: {in_one_line(why)}."


def frame_page(dump: Dump, compile_id: str) -> list[StyledLine]:
    """A frame: its attempts, graph breaks, recompiles, guards and caches."""
    frames = dump.rows_of_compile(Frame, compile_id)
    cwd = dump.run.cwd
    shown: list[StyledLine] = [styled(compile_id or "graphs without a frame", "title")]
    for frame in frames:
        shown += [
            StyledLine(),
            joined((clean(frame.function), "name"), (f"  {short_path(frame.file, cwd)}:{frame.line}", "dim")),
            _fact("status", frame.status + (f" in {seconds_text(frame.seconds)}" if frame.seconds else "")),
            _fact("nodes", f"{frame.nodes:,}" if frame.nodes else "none"),
        ]
        if frame.caller is not None:
            shown.append(_fact("called at", _place(frame.caller, cwd)))
        if frame.reason:
            shown += _text(frame.reason, "bad" if frame.status == "failed" else "warn")
    for found in dump.rows_of_compile(Recompile, compile_id):
        heads = (reason.partition("\n")[0] for reason in found.reasons)
        shown += _section("Recompiled, because", (styled(f"· {one_line(head)}", "warn") for head in heads))
    shown += _compiled_again(dump, compile_id)
    for found_break in dump.rows_of_compile(GraphBreak, compile_id):
        shown += _break(found_break, cwd)
    if looks := dump.rows_of_compile(CacheLookup, compile_id):
        shown += _section("Caches", (_fact(cache_name(look), _looked(look)) for look in looks))
    if guards := dump.rows_of_compile(Guard, compile_id):
        shown += _section(number_of(len(guards), "guard"), _table(GUARDS, merged(guards)[:_MOST_GUARDS]))
    return shown


def _looked(look: CacheLookup) -> str:
    outcome = outcome_of(look)
    return f"{OUTCOMES.get(outcome, outcome)} {look.reason or ''}"


def _compiled_again(dump: Dump, compile_id: str) -> list[StyledLine]:
    """The later compiles of the same function, and why."""
    frame = next(iter(dump.rows_of_compile(Frame, compile_id)), None)
    if frame is None:
        return []
    place = (frame.function, frame.file, frame.line)
    rows = [
        (row, [change_words(one) for one in row.failed] or list(row.failed_guards))
        for row in dump.rows(Recompile)
        if (row.function, row.file, row.line) == place and row.graph != compile_id
    ]
    paragraphs = [_fact(row.graph, one_line("; ".join(filter(None, why)))) for row, why in rows]
    return _section("Recompiled later, because", paragraphs) if paragraphs else []


def _break(found: GraphBreak, cwd: str) -> list[StyledLine]:
    shown: list[StyledLine] = [StyledLine(), styled("⚡ Graph break", "title")]
    if found.where is not None:
        shown.append(joined((_place(found.where, cwd), "name"), f"   {found.where.code}"))
        own = own_line(found.where)
        if own is not None and own is not found.where:
            shown.insert(-1, joined((_place(own, cwd), "name"), f"   {own.code}   leads to"))
    shown += _text(found.reason, "warn")
    if found.explanation:
        shown += _text(found.explanation, "")
    shown += [styled(f"→ {one_line(hint)}", "good") for hint in found.hints]
    return shown


def _place(where: Location, cwd: str) -> str:
    return f"{short_path(where.file, cwd)}:{where.line}"


def _fact(name: str, value: str) -> StyledLine:
    return joined((f"{name:12}  ", "dim"), clean(value))


def _text(text: str, role: str) -> list[StyledLine]:
    return [styled(line, role) for line in clean(text).splitlines()]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
