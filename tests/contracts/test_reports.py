"""Reports for CI: what each format holds of one regression, read by a parser that is not ours."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inspect_compile.analysis.lock.check import Change
from inspect_compile.contracts.github import annotations
from inspect_compile.contracts.junit import xml
from inspect_compile.contracts.report import Report
from inspect_compile.contracts.sarif import sarif
from inspect_compile.contracts.text import text
from inspect_compile.facts import Location

ROOT = "/home/ann/project"
WHERE = Location(f"{ROOT}/src/a,b:c.py", 12, "f", "y = x.item()  # 100%")
BREAK = Change(
    metric="graph_breaks", rule="no change", frame="f", message="graph breaks of f: 0 → 1 (x.item(): <why>\n)",
    why="100% of \x1b[31mit", where=WHERE, is_new_line=True,
)  # fmt: skip
PEAK = Change(metric="peak", rule="peak <= 1.02x", frame="f", kind="forward", message="peak of f: 1 → 2")
FOLLOWS = Change(metric="bytes", rule="no change", frame="f", message="bytes of f: 1 → 2", follows=True)
REPORT = Report("compile.lock", "train.py", [BREAK, PEAK, FOLLOWS], ROOT, 4, 1, 1.5, ("a note",))
GOOD = Report("compile.lock", "train.py", [], ROOT, 4, 1)


def test_text() -> None:
    told = text(REPORT)
    assert "2 differences" in told
    assert " src/a,b:c.py:12  y = x.item() # 100%" in told
    assert "1 further difference follows from these" in told
    assert "bytes of f" not in told
    assert "bytes of f" in text(REPORT, is_complete=True)
    assert "\x1b" not in told
    assert "nothing differs that the contract fixes (1 graph, 4 rules)" in text(GOOD)


def test_github() -> None:
    first, second = annotations(REPORT).splitlines()
    found = re.fullmatch(r"::error file=([^,:]*),line=(\d+),title=([^,:]*)::(.*)", first)
    assert found is not None
    file, line, title, message = (
        part.replace("%2C", ",").replace("%3A", ":").replace("%0A", "\n").replace("%25", "%") for part in found.groups()
    )
    assert (file, line, title) == ("src/a,b:c.py", "12", "torch.compile: graph break")
    assert message.startswith("graph breaks of f: 0 → 1")
    assert "100% of it" in message
    assert second == "::error title=torch.compile%3A peak memory::peak of f: 1 → 2"
    assert annotations(GOOD) == ""


def test_github_shows_few_and_says_how_many_more() -> None:
    changes = [Change(metric="fused", rule="no change", where=Location("/x.py", line)) for line in range(1, 14)]
    lines = annotations(REPORT._replace(changes=changes)).splitlines()
    assert len(lines) == 11
    assert lines[-1].endswith("::3 more lines differ from compile.lock")


def test_junit() -> None:
    suites = ElementTree.fromstring(xml(REPORT))
    assert (suites.get("tests"), suites.get("failures")) == ("2", "2")
    one, other = suites.iter("testcase")
    assert (one.get("file"), one.get("line"), one.get("classname")) == ("src/a,b:c.py", "12", "compile.lock")
    assert other.get("file") is None
    failure = one.find("failure")
    assert failure is not None
    assert "rule: no change" in (failure.text or "")
    good = ElementTree.fromstring(xml(GOOD))
    assert (good.get("tests"), good.get("failures"), len(list(good.iter("testcase")))) == ("1", "0", 1)


def test_sarif() -> None:
    log = json.loads(sarif(REPORT, "1.2"))
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (log["version"], run["tool"]["driver"]["version"], rules) == ("2.1.0", "1.2", ["graph_breaks", "peak"])
    one, other = run["results"]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    place = one["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "src/a%2Cb%3Ac.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 12},
    }
    assert "locations" not in other
    assert json.loads(sarif(GOOD, "1.2"))["runs"][0]["results"] == []


@pytest.mark.parametrize("report", [REPORT, GOOD], ids=["bad", "good"])
def test_no_format_has_a_control_character(report: Report) -> None:
    whole = text(report) + annotations(report) + xml(report).decode() + sarif(report, "1").decode()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", whole)
    assert Path(ROOT).name not in annotations(report)
