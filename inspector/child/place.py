"""Which part of a run's dump a process writes."""

import os
from pathlib import Path

import msgspec

from inspect_compile.child.live import live
from inspect_compile.child.process import Process
from inspect_compile.child.run_config import RunConfig
from inspect_compile.child.session import Session
from inspect_compile.child.surroundings import rank
from inspect_compile.dump import Writer, paths
from inspect_compile.facts import NumericsRequest, Run
from inspect_compile.interrupts import let_pass


def session(start: Process) -> Session:
    """The session of a process that is about to use torch's compiler."""
    setting = start.setting
    config = RunConfig.of(setting.run)
    top = Path(setting.top or setting.root)
    pid = os.getpid()
    if start.follows:
        close_earlier(top)
    is_first = not start.follows and (
        bool(setting.target or setting.replay_of)
        or pid == setting.pid
        or (pid == setting.leader and rank() is None and _claims(top))
    )
    made = Session(
        Path(setting.root) if is_first else None,
        top=top,
        argv=list(setting.argv or start.argv()),
        cwd=start.cwd,
        started=start.time,
        config=config,
        target=setting.target,
        replay_of=setting.replay_of,
        settings=setting.config,
        steer=setting.steer,
        numerics=None if setting.numerics is None else NumericsRequest.of(setting.numerics),
        is_fork=pid != start.pid,
    )
    if config.targets:
        made.send_to(setting)
    if setting.serves is not None:
        made.notes.append(
            f"this process compiled graphs for process {setting.serves}, which has their frames and guards"
            " and ended it when it had no more work for it"
        )
    made.belong_to(setting)
    made.tell(live.of(config.live, config.live_metrics, stderr=start.lines, leader=setting.leader))
    made.imports = start.imports
    made.note_stretches(start.stretches)
    if is_first and not setting.is_left_on:
        made.recorder.begin()
    return made


def close_earlier(top: Path) -> None:
    """Record that programs which this process was before (exec) have ended: none of them could."""
    for path in (top / paths.RUN, *top.glob(f"*/{paths.RUN}")):
        try:
            run = msgspec.json.decode(path.read_bytes(), type=Run)
        except (OSError, ValueError) as error:
            let_pass(error)
            continue
        if run.pid == os.getpid() and run.status == "running":
            Writer(path.parent).run(msgspec.structs.replace(run, status="replaced", notes=(*run.notes, REPLACED)))


REPLACED = "the process became another program (exec): what it recorded is in a separate part"


def _claims(top: Path) -> bool:
    """True if this process may write the top of the dump: the command itself, or its first Python process."""
    try:
        os.close(os.open(top / paths.CLAIMED, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError as error:
        let_pass(error)
        return False
    return True
