"""A sys.stdout and a sys.stderr of the program's own, with no file behind them; both stay until the end."""

import sys

import torch


class Shout:
    """Writes what it is given louder, and has nothing else of a file."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(text.upper())  # type: ignore[attr-defined,no-any-return]

    def flush(self) -> None:
        self.stream.flush()  # type: ignore[attr-defined]


sys.stdout = Shout(sys.stdout)  # type: ignore[assignment]
sys.stderr = Shout(sys.stderr)  # type: ignore[assignment]
print("before", torch.compile(torch.cos)(torch.ones(3)).sum().item())
print("after", file=sys.stderr)
