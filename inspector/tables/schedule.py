"""The scheduler nodes after fusion, in the order of the generated code."""

from inspect_compile.analysis.cost.schedule_rows import ScheduleRow, schedule_rows
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.schedule_columns import COLUMNS
from inspect_compile.tables.text import number_of


def _told(found: list[ScheduleRow]) -> str:
    when = "before" if any(row.phase == "pre_fusion" for row in found) else "after"
    return f"{number_of(len(found), 'scheduler node')} {when} fusion"


schedule = Listing[ScheduleRow]("schedule", COLUMNS, schedule_rows, told=_told)
"""One row for each scheduler node; --facts also has those before fusion."""
