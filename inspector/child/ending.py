"""The end of a watched program: what is still to be written, and the last words."""

import contextlib
import os
from pathlib import Path

import msgspec

from inspect_compile.child import account, finishing, last_words
from inspect_compile.child.recorder import Tally
from inspect_compile.child.start import Start
from inspect_compile.dump import Dump, Writer
from inspect_compile.dump.parts import parts


def end(start: Start) -> None:
    """Called once, after all other exit handlers."""
    last_words.flush_output()
    how = account.how_it_ended()
    session = start.session
    setting = start.setting
    top = Path(setting.root)
    if session is None:
        tally, trouble, root = Tally(), _without_compiler(start, how), top / setting.part
    else:
        session.close(how)
        tally, trouble, root = session.recorder.tally, session.recorder.trouble, session.recorder.root
        if tally.graphs:
            failure = finishing.finish(root, start.cwd)
            if failure is not None:
                session.add_note(failure)
        if root != top and not session.recorder.has_begun:
            with contextlib.suppress(OSError):
                root.rmdir()
    if setting.part and os.getpid() == setting.pid:
        _tell_launch(top, root)
    if os.getpid() == setting.leader and not setting.quiet:
        is_first = root == top / setting.part
        words = last_words.compose(
            tally,
            _shown(top if setting.part else root, start.cwd),
            saw_torch=start.saw_torch,
            others=len(parts(top)) - bool(setting.part) if is_first else 0,
            trouble=trouble,
        )
        last_words.say(words)


def _without_compiler(start: Start, how: account.Ended) -> str | None:
    """The first process of a run tells its end even where it never loaded torch's compiler."""
    writer = Writer(Path(start.setting.root) / start.setting.part)
    reason = "torch's compiler was never loaded" if start.saw_torch else "torch was never imported"
    run = account.running(argv=start.argv(), cwd=start.cwd, started=start.time, cache=start.setting.cache)
    writer.run(account.ended(run, how, started=start.time, notes=(f"nothing to record: {reason}",)))
    return writer.trouble


def _tell_launch(top: Path, root: Path) -> None:
    """How a run ended whose ranks each started with the command: as the last of them did, or the one that raised."""
    own = Dump(root).run
    before = Dump(top).run
    if before.status != "raised":
        Writer(top).run(msgspec.structs.replace(own, rank=None, notes=before.notes))


def _shown(root: Path, cwd: str) -> str:
    """The dump as it is typed from where the program was started."""
    return str(root.relative_to(cwd)) if root.is_relative_to(cwd) else str(root)
