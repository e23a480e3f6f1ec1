"""Errors that the user sees as one line. Knows nothing about what raised them."""


class CommandError(Exception):
    """States what was requested, what exists, and what to type next; printed to stderr, with `exit_code` as exit
    status.
    """

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
