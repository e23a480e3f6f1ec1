"""Communication of a rank of a distributed run with the other ranks."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Collective(Fact, frozen=True, kw_only=True, tag="collective"):
    """Calls of one collective from one place, from torch's flight recorder when the process ends."""

    table: ClassVar[str] = "collectives"
    per_graph: ClassVar[bool] = False

    op: str
    """all_reduce, all_gather, reduce_scatter, broadcast, …: the operation that the backend ran."""
    backend: str
    """nccl or gloo."""
    group: str
    """torch's description of the process group, such as `default_pg`."""
    dtype: str
    by: str
    """Who called it: compiled graph, DistributedDataParallel, FSDP2, FSDP, program (a line of the program), torch
    (other code of torch's), or unknown (there is no Python frame).
    """
    hook: str = ""
    """torch's function that called it, such as `pre_forward`; `reducer` for DistributedDataParallel's C++ code."""
    count: Int64
    bytes: Int64
    """Bytes of all these calls on this rank: for each call the larger of input and output."""
    where: Location | None = None
    """The program's innermost line around it."""
    before: Int64 = 0
    """Collectives of the process that torch no longer had: it keeps only the last ones."""

    @property
    def is_compiled(self) -> bool:
        """True if the code of a compiled graph called it."""
        return self.by == "compiled graph"
