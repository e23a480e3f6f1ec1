"""A watched process, before it needs a Session. Light: loaded at interpreter start."""

import os
import sys
import time

from inspect_compile.child.setting import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.session import Session


class Process:
    """What is known of a process before it needs a Session: most processes of a run never do."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.pid = os.getpid()
        self.time = time.time()
        try:
            self.cwd = os.getcwd()
        except OSError:  # it has been removed
            self.cwd = os.sep
        self.saw_torch = False
        self.session: Session | None = None
        self.follows = setting.leader == self.pid
        """Whether this process was another program before (exec)."""

    def argv(self) -> list[str]:
        """The command as the user would type it: without the interpreter, unless they typed it."""
        return sys.orig_argv[1:] if self.setting.plain else sys.orig_argv
