"""A check's report as SARIF 2.1.0, which code scanning of GitHub, GitLab and others reads."""

import json
from typing import Any
from urllib.parse import quote

from inspect_compile.analysis.lock.metrics import METRICS
from inspect_compile.contracts.report import Report, line_of, path_of, sentences, title


def sarif(report: Report, version: str) -> bytes:
    """The file's bytes; `version` is this tool's."""
    used = [name for name in METRICS if any(change.metric == name for change in report.primary)]
    rules = [
        {"id": name, "shortDescription": {"text": f"{METRICS[name].what} differs from the contract"}} for name in used
    ]
    results: list[dict[str, Any]] = []
    for change in report.primary:
        result: dict[str, Any] = {
            "ruleId": change.metric,
            "ruleIndex": used.index(change.metric),
            "level": "error",
            "message": {"text": f"{title(change)}: {'. '.join(sentences(change))}"},
        }
        if place := path_of(change, report.root):
            address = {
                "uri": quote(place.replace("\\", "/")),
                **({} if place.startswith("/") else {"uriBaseId": "%SRCROOT%"}),
            }
            region = {"startLine": line_of(change)}
            result["locations"] = [{"physicalLocation": {"artifactLocation": address, "region": region}}]
        results.append(result)
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "inspect-compile", "version": version, "rules": rules}},
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2).encode() + b"\n"
