"""The end of a watched program: writes what is pending, and prints the closing lines."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from inspect_compile.child import exit_summary, finishing, place, run_record, surroundings
from inspect_compile.child.counters import looks_at_caches
from inspect_compile.child.process import Process
from inspect_compile.child.recorder import Tally
from inspect_compile.child.run_config import RunConfig
from inspect_compile.child.setting import Setting
from inspect_compile.dump import Dump, Writer, paths
from inspect_compile.facts import Frame, Graph, Omission, Remark
from inspect_compile.interrupts import let_pass
from inspect_compile.knowledge.overview.nothing import NOT_COMPILED

_COMPILED = (paths.table(Frame.table, None), paths.table(Graph.table, None))
"""A process that compiled has one of these tables."""


def end(start: Process) -> None:
    """Called once, after all other exit handlers."""
    exit_summary.flush_output()
    how = run_record.how_it_ended()
    session = start.session
    setting = start.setting
    if session is not None:
        session.finish_targets(wait=how.exit_code != run_record.INTERRUPTED)
    looks = None
    if session is not None and session.recorder.tally.passed_over:
        looks = exit_summary.looked(session.recorder.tally, looks_at_caches())
        session.notes += [looks] if looks is not None else []
    top = Path(setting.top or setting.root)
    others = _that_compiled(top, "*/")
    if start.follows:
        others |= _that_compiled(top)
    if setting.is_left_on and not others and (session is None or session.recorder.is_empty):
        return
    if session is not None and others and setting.is_left_on and os.getpid() == setting.pid:
        session.recorder.begin()
    if session is None and start.follows:
        place.close_earlier(top)
        tally, trouble, root = Tally(), None, top
    elif session is None:
        tally, trouble, root = Tally(), _without_compiler(start, how, is_alone=not others), Path(setting.root)
    else:
        session.close(how)
        tally, trouble, root = session.recorder.tally, session.recorder.trouble, session.recorder.root
        if tally.graphs and session.makes_derived and not setting.is_tried:
            finishing.leave(root, top, start.cwd)
    if os.getpid() == setting.leader and not setting.quiet and start.has_stderr() and surroundings.is_first_here():
        others -= {root} if session is not None else set()
        targets, refused = _compiled({path for path in others if path.name.startswith(paths.TARGET)})
        others = {path for path in others if not path.name.startswith(paths.TARGET)}
        ranks = sum(path.name.startswith(paths.RANK) for path in others)
        words = exit_summary.compose(
            tally,
            _shown(top if others else root, start.cwd),
            saw_torch=start.saw_torch,
            is_unwatched="torch" in sys.modules,
            lacks_torch=run_record.lacked("torch"),
            ranks=ranks,
            others=len(others) - ranks,
            targets=targets,
            refused=refused,
            trouble=trouble,
            omitted=[]
            if session is None
            else [one.message for one in _worth_a_line(session.recorder.omissions(), setting)],
            looks=looks,
            made_up=() if session is None else session.made_up,
        )
        exit_summary.say(words)


def _worth_a_line(omissions: Sequence[Omission], setting: Setting) -> list[Omission]:
    """What is worth a line at each end of a run: nobody asked for texts of one that is left on."""
    return [one for one in omissions if not (setting.is_left_on and one.what == "texts")]


def _that_compiled(top: Path, below: str = "") -> set[Path]:
    """The folders of processes that compiled; none where no folder can be listed, as without a free descriptor."""
    try:
        return {path.parent for name in _COMPILED for path in top.glob(f"{below}{name}")}
    except OSError as error:
        let_pass(error)
        return set()


def _compiled(folders: set[Path]) -> tuple[list[str], list[str]]:
    """The targets that graphs were compiled for, and reports about graphs that were not."""
    parts = [Dump(folder) for folder in sorted(folders)]
    remarks = (row for part in parts for row in part.rows(Remark))
    return (
        [part.root.name.removeprefix(paths.TARGET) for part in parts if part.graphs()],
        [row.message for row in remarks if row.code in NOT_COMPILED],
    )


def _without_compiler(start: Process, how: run_record.Ended, *, is_alone: bool) -> str | None:
    """Record the end of a run's first process even if it never loaded torch's compiler; returns a line to print, if
    any.
    """
    writer = Writer(Path(start.setting.root))
    reason = "torch's compiler was never loaded" if start.saw_torch else "torch was never imported"
    notes = (f"nothing to record: {reason}",) if is_alone else ()
    cache = RunConfig.of(start.setting.run).cache
    run = run_record.running(argv=start.argv(), cwd=start.cwd, started=start.time, cache=cache)
    writer.run(run_record.ended(run, how, started=start.time, notes=notes))
    return writer.trouble


def _shown(root: Path, cwd: str) -> str:
    """The dump's path as typed from the directory where the program was started."""
    return str(root.relative_to(cwd)) if root.is_relative_to(cwd) else str(root)
