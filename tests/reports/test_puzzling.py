"""Public reports of puzzling compiles: the table that answers what the person asked has the answer in one row."""

import json
from pathlib import Path

import pytest

from tests.reports.reports import FAILING, PUZZLING, Report
from tests.reports.test_reports import named, of_this_release, program
from tests.running import COMMAND, inspected, run


@pytest.mark.harmless
@of_this_release
@named(PUZZLING)
def test_what_a_person_asks_is_in_one_row(report: Report, tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    inspected([program(report)], tmp_path, options=report.options, environment=environment)

    shown = run([*COMMAND, "show", "dump", report.table, "--json"], tmp_path).stdout.splitlines()

    rows = shown[:1] if report.kind == FAILING else shown
    found = any(all(json.dumps(text)[1:-1] in row or text in row for text in report.learns) for row in rows)
    assert found, "\n".join(shown)
