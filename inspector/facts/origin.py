"""What a log by others held, of which a dump was made."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class OriginRecords(Fact, frozen=True, kw_only=True, tag="origin_records"):
    """All records of one kind in the log, or lines of it that are none.

    `graph` is empty.
    """

    table: ClassVar[str] = "origin"
    per_graph: ClassVar[bool] = False

    what: str
    """The log's name of the kind, `artifact fx_graph_runnable`; of lines that could not be read why."""
    count: Int64
    """How many there were."""
    bytes: Int64 = 0
    """Bytes of their texts."""
    became: str = ""
    """What they became: `dynamo`, `graphs`, `artifacts`; `counted` where nothing is made of them; `not read`."""
