"""Errors that the user sees as one line. Knows nothing about what raised them."""

from typing import Literal

DumpProblem = Literal["none", "file", "unreadable", "newer", "taken", "not empty", "not writable"]
"""What keeps a path from being read as a dump, or from becoming one."""


class CommandError(Exception):
    """States what was requested, what exists, and what to type next; printed to stderr, with `exit_code` as exit
    status.
    """

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class DumpError(CommandError):
    """States what is at a path that cannot be read as a dump, or become one. A command adds what to type next."""

    def __init__(self, problem: DumpProblem, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.problem = problem
        self.path = path
