"""Errors that are told to a person in one line. Knows nothing of what raised them."""


class CommandError(Exception):
    """What was asked, what is there, what to type next; the command prints it to stderr and exits with `exit_code`."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
