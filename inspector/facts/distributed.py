"""What a rank of a distributed run sent to the others and got from them."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64, Location


class Collective(Fact, frozen=True, kw_only=True, tag="collective"):
    """Calls of one collective from one place, as torch's flight recorder has them when the process ends."""

    table: ClassVar[str] = "collectives"
    per_graph: ClassVar[bool] = False

    op: str
    """all_reduce, all_gather, reduce_scatter, broadcast, …; what the backend ran."""
    backend: str
    """nccl, gloo."""
    group: str
    """torch's description of the process group, `default_pg`."""
    dtype: str
    by: str
    """compiled graph, DistributedDataParallel, FSDP2, FSDP, program (the program's line called it), torch (something
    else of torch's), or unknown (no Python frame is known)."""
    hook: str = ""
    """torch's function that called it, `pre_forward`; `reducer` of DistributedDataParallel's, which is C++."""
    count: Int64
    bytes: Int64
    """Of all these calls: of each the larger of what it was given and what it gave back, on this rank."""
    where: Location | None = None
    """The program's innermost line around it."""
    before: Int64 = 0
    """Collectives of the process before the first that torch still knew of: it keeps the last ones only."""

    @property
    def is_compiled(self) -> bool:
        """Was it called by the code of a compiled graph?"""
        return self.by == "compiled graph"
