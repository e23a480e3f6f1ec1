"""A run in a line, what its reader has to be warned of, and what else its dump holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.analysis.dumps.parts import asked, is_only_parts
from inspect_compile.analysis.dumps.parts import parts as parts_of
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.dumps.parts import targets as targets_of
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.overview.eager import ALL
from inspect_compile.analysis.overview.records import RunSummary
from inspect_compile.facts import Graph
from inspect_compile.knowledge.overview.nothing import Seen, why_nothing
from inspect_compile.tables.columns import Cell, cell
from inspect_compile.tables.parts import command
from inspect_compile.tables.text import (
    exception_text,
    number_of,
    one_line,
    program_words,
    seconds_text,
    shared_text,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_HOOKS: Final = 3
_OMITTED: Final = 4


class RunSentence(NamedTuple):
    """One sentence."""

    text: str
    role: str = "warn"
    table: tuple[str, ...] = ()
    """The words of `show` that have more."""
    command: str = ""
    """A command that names another dump."""


def run_text(dump: "Dump", run: RunSummary) -> tuple[Cell, ...]:
    """The program, torch, the device and the time; the same in short."""
    words = [one_line(" ".join(program_words(run.argv)) or dump.root.name)]
    words += [f"torch {run.versions['torch']}"] if "torch" in run.versions else []
    words.append(dump.run.device)
    words += [f"rank {dump.run.rank}"] if dump.run.rank is not None else []
    if dump.run.replay_of:
        words.append(f"compiled again {asked('', dump.run.config, dump.run.denied)}".rstrip())
    title = cell(" · ".join(words), "title")
    if run.seconds is None:
        return (title,)
    return (*title, *cell(f"   {seconds_text(run.seconds)}", "dim")), title


def break_text(run: RunSummary) -> str:
    """`5 graph breaks at 2 lines`: a line breaks the graph of each frame that reaches it."""
    lines = f" at {number_of(run.broken_lines, 'line')}" if run.graph_breaks > run.broken_lines > 0 else ""
    return f"{number_of(run.graph_breaks, 'graph break')}{lines}"


def eager_calls_text(run: RunSummary) -> str:
    """`eager: 1 of 4 functions (1 limit), 34 of 1,012 later calls (3%: 20 limit, 14 disabled)`."""
    why = {reason: count for reason, count in run.eager.items() if reason != ALL}
    text = f"eager: {sum(why.values()):,} of {number_of(run.eager[ALL], 'function')} ({_reasons(why)})"
    if not run.checked_calls:
        return text
    share = f"{run.eager_calls / run.checked_calls:.0%}: {_reasons(run.eager_calls_why)}"
    text = f"{text}, {run.eager_calls:,} of {number_of(run.checked_calls, 'later call')} ({share})"
    left_out = number_of(run.uncounted_functions, "function")
    return f"{text}, calls of {left_out} not counted" if run.uncounted_functions else text


def _reasons(why: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in why.items())


def warnings(dump: "Dump", run: RunSummary) -> Iterator[RunSentence]:
    """How it ended if not well, what was not watched, steered or read, and what was left out."""
    state = run_state(dump)
    if state.text:
        yield RunSentence(exception_text(state.text), "warn" if state.is_growing else "bad")
    yield from _disabled(dump)
    if dump.run.fusions is not None:
        yield RunSentence(f"fusions that were allowed: {dump.run.fusions:,} (bisect-fusions)")
    for a, b in dump.run.denied if not dump.run.replay_of else ():
        yield RunSentence(f"fusion kept {one_line(a)} and {one_line(b)} apart")
    if dump.run.numerics is not None and dump.run.numerics.continue_with == "reference":
        yield RunSentence(
            "checked calls returned what their graphs compute node by node (numerics --continue-with reference)"
        )
    if dump.damaged:
        yield RunSentence(f"{number_of(dump.damaged, 'line')} of the tables could not be read")
    if dump.lacking and dump.graphs():
        why = why_nothing(Seen(lacking=dump.lacking))
        yield RunSentence(f"{why.head}: {why.text}; {why.to_do}", "bad")
    yield from _kept(dump)
    for row in run.omitted[:_OMITTED]:
        yield RunSentence(f"Incomplete: {one_line(row.message)}")
    if (left := len(run.omitted) - _OMITTED) > 0:
        yield RunSentence(f"… and {left:,} more of that kind in run.json")
    for noted in (shared_text(dump.shared) if dump.shared is not None else "", dump.left_out, *run.notes):
        if noted:
            yield RunSentence(one_line(noted))


def _kept(dump: "Dump") -> Iterator[RunSentence]:
    """That torch took graphs from its cache, so that what is told of their compiles is not of this run."""
    kept = sorted({row.kept for row in dump.rows(Graph) if row.kept})
    if kept:
        count = sum(bool(row.kept) and "/" not in row.graph for row in dump.rows(Graph))
        first, last = (one_line(when).removesuffix("+00:00") for when in (kept[0], kept[-1]))
        day = first.partition(" ")[0]
        when = first if first == last else f"{first} to {last.removeprefix(day).strip()}"
        hits = number_of(count, "cache hit")
        yield RunSentence(f"{hits}; data and times recorded {when} UTC", "dim", ("caches",))


def _disabled(dump: "Dump") -> Iterator[RunSentence]:
    hooks = disabled(dump)
    for hook in hooks[:_HOOKS]:
        what = "was turned off" if hook.state == "failed" else "found nothing to watch"
        sentence = f"The probe of {hook.target.removeprefix('torch.')} {what}: {one_line(hook.reason)}"
        yield RunSentence(sentence, "warn", ("overhead", hook.target.rpartition(".")[2]))
    if len(hooks) > _HOOKS:
        yield RunSentence(f"… {number_of(len(hooks) - _HOOKS, 'more probe')} turned off", "warn", ("overhead",))


def others(dump: "Dump", dump_argument: str) -> Iterator[RunSentence]:
    """What else the dump holds: targets, other processes, replays."""
    targets, again = targets_of(dump), replays_of(dump)
    for target, part in targets.items():
        from inspect_compile.analysis.compare.ranks import summarize_rank  # most runs have no targets

        row = summarize_rank(part)
        text = f"{number_of(row.graphs, 'graph')}, {number_of(row.kernels, 'kernel')}, {row.status}"
        words = f"{command(dump_argument, '')} --target {target}"
        yield RunSentence(f"{part.name}   {text}", "", command=words)
    processes = [part.dump.root for part in parts_of(dump) if part.replay is None]
    if processes and not is_only_parts(dump) and not targets:
        text = f"{number_of(len(processes), 'process', 'processes')} of the same run compiled too"
        yield RunSentence(text, "", command=f"show {processes[0]}")
    if again:
        graphs = number_of(len({part.dump.run.replay_of for part in again.values()}), "graph")
        yield RunSentence(f"{number_of(len(again), 'replay')} of {graphs}", "", ("replays",))
