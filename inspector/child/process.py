"""A watched process, before it needs a Session. Light: loaded at interpreter start."""

import os
import sys

from inspect_compile.at_start import AtStart
from inspect_compile.child.life import Life
from inspect_compile.child.setting import Setting
from inspect_compile.child.stretches import Stretches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.session import Session
    from inspect_compile.child.stderr import Stderr


class Process:
    """What is known of a process before it needs a Session: most processes of a run never do."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.pid = os.getpid()
        self.time = AtStart.time()
        try:
            self.cwd = os.getcwd()
        except OSError:  # it has been removed
            self.cwd = os.sep
        self.path = tuple(sys.path)
        """Where modules are looked for, before the program adds its own folder."""
        self.finders = tuple(sys.meta_path)
        """What finds them, before the program adds its own."""
        self.stderr = file_at(2)
        """Device and number of the file that is stderr, as far as it is open."""
        self.lines: Stderr | None = None
        """Where lines go while the program runs, if they were asked for."""
        self.saw_torch = False
        self.imports: list[tuple[str, float, float]] = []
        """Imports that took long and are not recorded yet: module, start and seconds."""
        self.stretches = Stretches()
        self.session: Session | None = None
        self.life = Life(self)
        self.follows = setting.leader == self.pid
        """Whether this process was another program before (exec)."""

    def has_stderr(self) -> bool:
        """True if descriptor 2 is still what it was: the program may have opened a file of its own in its place."""
        return self.stderr == file_at(2)

    def argv(self) -> list[str]:
        """The command as the user would type it: without the interpreter, unless they typed it."""
        return sys.orig_argv[1:] if self.setting.plain else sys.orig_argv


def file_at(descriptor: int) -> tuple[int, int] | None:
    """Device and number of the file that is open there; None where none is."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino
