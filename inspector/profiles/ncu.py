"""Nsight Compute: the CSV of `ncu --csv`, one row per metric, or of `ncu --csv --page raw`, one row per kernel.

The kernels are in launch order; their times are those of kernels run one by one. A row may be shorter than the header
if its remaining fields would be empty: rows of metrics have no columns for rules. Tested with Nsight Compute 2025.3.
"""

import re
from pathlib import Path
from typing import Final

from inspect_compile.profiles.events import GpuRun, Profile
from inspect_compile.profiles.printed import csv_rows, microseconds

TOOL: Final = "Nsight Compute"

_RAW_TIME: Final = "gpu__time_duration.sum"
_TIMES: Final = frozenset({"Duration", _RAW_TIME})
_RAW_DEVICE: Final = "device__attribute_display_name"
_NUMBER = re.compile(r"\d+")


def read_csv(path: Path) -> Profile:
    """The kernels of the report. Raises ValueError if there are none."""
    found = Profile(TOOL, [], [], [])
    rows: dict[str, dict[str, str]] = {}
    times: dict[str, float] = {}
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header: list[str] = []
        units: dict[str, str] = {}
        named = 0
        for cells in csv_rows(file):
            if "Kernel Name" in cells and "ID" in cells:
                header, named = cells, cells.index("Kernel Name")
            elif named < len(cells) <= len(header):
                row = dict(zip(header, cells, strict=False))
                if not row["ID"]:  # the raw page has a separate row of units
                    units = row
                if not row["ID"].isdigit():  # the program's output is among the rows
                    continue
                rows.setdefault(row["ID"], row)
                if row.get("Metric Name") in _TIMES:
                    times[row["ID"]] = microseconds(row.get("Metric Value", ""), row.get("Metric Unit", ""))
                elif _RAW_TIME in row:
                    times[row["ID"]] = microseconds(row[_RAW_TIME], units.get(_RAW_TIME, "ns"))
                found.device = found.device or row.get(_RAW_DEVICE, "")
                found.events += 1
    for index, (number, row) in enumerate(rows.items()):
        found.runs.append(
            GpuRun(
                index,
                "kernel",
                row["Kernel Name"],
                float(index),
                times.get(number, 0.0),
                stream=_first(row.get("Stream", "")),
                grid=tuple(map(int, _NUMBER.findall(row.get("Grid Size", "")))),
                block=tuple(map(int, _NUMBER.findall(row.get("Block Size", "")))),
            )
        )
    if not found.runs:
        raise ValueError("it has no rows of kernels")
    if not times:
        raise ValueError(f"it has no times: ncu --metrics {_RAW_TIME}, or --section SpeedOfLight, collects them")
    return found


def _first(text: str) -> int:
    found = _NUMBER.search(text)
    return int(found[0]) if found else 0
