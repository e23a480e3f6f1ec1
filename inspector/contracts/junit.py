"""A check's report as JUnit XML: one test case for each metric that differs, or one that passed."""

from xml.etree import ElementTree

from inspect_compile.contracts.report import Report, line_of, path_of, sentences, title
from inspect_compile.tables.text import clean, one_line


def xml(report: Report) -> bytes:
    """The file's bytes."""
    failures = len(report.primary)
    counts = {"tests": str(max(1, failures)), "failures": str(failures), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        {"name": "inspect-compile check", **counts, "skipped": "0", "time": f"{report.seconds:.3f}"},
    )
    case = {"classname": one_line(report.lock), "time": f"{report.seconds:.3f}"}
    if not failures:
        ElementTree.SubElement(suite, "testcase", {**case, "name": one_line(report.program) or "check"})
    for change in report.primary:
        place = path_of(change, report.root)
        more = {"file": place, "line": str(line_of(change))} if place else {}
        name = one_line(f"{title(change)}: {change.frame}")
        one = ElementTree.SubElement(suite, "testcase", {**case, "name": name, **more})
        attributes = {"message": one_line(change.message), "type": one_line(change.metric)}
        failure = ElementTree.SubElement(one, "failure", attributes)
        at = [f"{place}:{line_of(change)}"] if place else []
        failure.text = clean("\n".join([*at, *sentences(change), f"rule: {change.rule}"]))
    ElementTree.indent(suites)
    data: bytes = ElementTree.tostring(suites, "utf-8", xml_declaration=True)
    return data + b"\n"
