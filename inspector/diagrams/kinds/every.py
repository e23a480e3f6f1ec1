"""The list of all kinds of pictures."""

from typing import Final

from inspect_compile.diagrams.kinds.charts import MEMORY, ROOFLINE, STARTUP, TIMELINE
from inspect_compile.diagrams.kinds.graphs import FX, KERNEL, NODE
from inspect_compile.diagrams.kinds.kind import Kind
from inspect_compile.diagrams.kinds.runs import DYNAMO, RANKS
from inspect_compile.diagrams.kinds.schedules import FUSION, SCHEDULE

KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        SCHEDULE,
        FUSION,
        FX,
        KERNEL,
        NODE,
        DYNAMO,
        MEMORY,
        ROOFLINE,
        TIMELINE,
        STARTUP,
        RANKS,
    )
}
"""Name → kind; new ones are added here."""
