"""What the app needs of the program that runs beside it; whoever starts the program passes such an object."""

from typing import Protocol


class Program(Protocol):
    """A program on its own terminal."""

    def output(self, offset: int) -> bytes:
        """Output from byte `offset` on, as far as there is any; the rest may need further calls."""

    def write(self, keys: bytes) -> None:
        """Type `keys`: b"\\x03" is Ctrl-C. Never waits."""

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of its terminal."""

    def status(self) -> int | None:
        """None while it runs; then its exit status, or the negative number of the signal that ended it."""

    def terminate(self) -> None:
        """Ask it to end."""
