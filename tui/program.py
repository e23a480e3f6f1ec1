"""What the app needs of the program that runs beside it. Whoever starts the program gives an object of this shape."""

from typing import Protocol


class Program(Protocol):
    """A program on a terminal of its own."""

    def output(self, offset: int) -> bytes:
        """What it printed from byte `offset` on, as far as it is there; the rest may need further calls."""

    def write(self, keys: bytes) -> None:
        """Type `keys`: b"\\x03" is Ctrl-C. Never waits."""

    def resize(self, rows: int, columns: int) -> None:
        """Give its terminal another size."""

    def status(self) -> int | None:
        """None while it runs; then its exit status, or the negative number of the signal that ended it."""

    def terminate(self) -> None:
        """Ask it to end."""
