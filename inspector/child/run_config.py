"""The options of `run`: one record, from the command line to each process of the run."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

MAX_BYTES: Final = 2 << 30

Level = Literal["facts", "texts", "all"]
"""How much is made of what is seen. facts: tables and the generated code; texts: FX graphs and IR as texts, too; all:
the derived files, too, once the program has ended. What is not made then is made by the first command that reads the
dump, but for the texts, which only a compile can give.
"""
LEVELS: Final[tuple[Level, ...]] = ("facts", "texts", "all")


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded, and how."""

    cache: str = "bypass"
    """keep: torch may take graphs from its caches; bypass: it compiles each, so that it can be watched; auto: it may
    take those whose facts are kept from an earlier recording. `run` has another default, auto: what is not asked for
    on its command line, as a contract or a check of numbers, sees every compile.
    """
    graphs: int | None = None
    """So many graphs of each process are recorded, the others counted; None: all."""
    max_bytes: int | None = MAX_BYTES
    """Of each process; None: no limit."""
    keep: int | None = None
    """So many recompiles of each process stay in the dump, the newest ones; None: the first ones of each frame do."""
    level: Level = "all"
    measure: bool = False
    """Is each launch timed?"""
    targets: tuple[str, ...] = ()
    """The GPUs that graphs are compiled for, in the place of the device that is here."""
    fake_kernels: bool = False
    """With targets: where the program launches a Triton kernel of its own, does it go on, with zeros?"""
    live: str = ""
    """Is what happens told on stderr while it happens? `text` or `json`; empty: it is not."""
    live_metrics: str = ""
    """The folder in which each process writes its figures for Prometheus; empty: none does."""

    @property
    def keeps_texts(self) -> bool:
        """Are FX graphs and IR kept as texts, beside the tables?"""
        return self.level != "facts"

    @property
    def makes_derived(self) -> bool:
        """Are the derived files made when the program has ended, before anybody asks for them?"""
        return self.level == "all"

    @classmethod
    def of(cls, plain: Mapping[str, object]) -> "RunConfig":
        """From what `plain` gave."""
        return msgspec.convert(plain, cls)

    def plain(self) -> dict[str, Any]:
        """As values that JSON has."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found
