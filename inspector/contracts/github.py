"""A check's report as workflow commands of GitHub Actions: an annotation at each line.

Format: docs.github.com/actions/using-workflows/workflow-commands-for-github-actions, "Setting an error message".
"""

from typing import Final

from inspect_compile.contracts.report import Report, line_of, path_of, sentences, title

_MOST: Final = 10
"""GitHub shows so many errors of one step."""


def annotations(report: Report) -> str:
    """One command for each change that does not merely follow from another; those at one line are one."""
    at: dict[tuple[str, int], list[str]] = {}
    titles: dict[tuple[str, int], str] = {}
    for change in report.primary:
        place = path_of(change, report.root), line_of(change)
        at.setdefault(place, []).append(". ".join(sentences(change)))
        titles.setdefault(place, title(change))
    lines = []
    for (file, line), messages in list(at.items())[:_MOST]:
        where = f"file={_property(file)},line={line}," if file else ""
        message = "\n".join(messages)
        lines.append(f"::error {where}title={_property(titles[file, line])}::{_data(message)}")
    left = len(at) - len(lines)
    if left > 0:
        lines.append(f"::notice title=torch.compile::{left} more lines differ from {_data(report.lock)}")
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
