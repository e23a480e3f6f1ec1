"""Keeps our files out of what coverage.py counts: its report has the files and lines that it has without us. Light:
loaded at interpreter start.
"""

import os
import sys

from inspect_compile.child.imports import ImportWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_COVERAGE = "coverage"
_DECIDES, _KEEPS = "coverage.inorout", "coverage.sqldata"
"""Its modules that decide which files are counted, and that keep what was counted."""
_PACKAGES = ("inspect_compile", "inspect_compile.lowering", "inspect_compile.codegen", "inspect_compile.tui")


def install() -> None:
    """Have coverage.py pass over our files, if it is imported already or ever is."""
    ImportWatch(_COVERAGE, lambda: (_DECIDES, _KEEPS), _pass_over).install()


def _pass_over(module: str) -> None:
    folders = _folders()
    if module == _DECIDES:
        _count_none(sys.modules[module].InOrOut, folders)
    else:
        # What ran before this did, in a process that coverage.py itself has begun with, is counted all the same.
        for way in ("add_lines", "add_arcs"):
            _keep_none(sys.modules[module].CoverageData, way, folders)


def _count_none(decides: "Any", folders: tuple[str, ...]) -> None:
    plain = decides.check_include_omit_etc

    def check_include_omit_etc(self: "Any", filename: str, frame: "Any") -> "Any":
        """Why `filename` is not counted, or None if it is."""
        return "is part of inspect-compile" if filename.startswith(folders) else plain(self, filename, frame)

    decides.check_include_omit_etc = check_include_omit_etc


def _keep_none(data: "Any", way: str, folders: tuple[str, ...]) -> None:
    plain = getattr(data, way)

    def add(self: "Any", counted: "Mapping[str, Any]") -> None:
        plain(self, {file: found for file, found in counted.items() if not file.startswith(folders)})

    setattr(data, way, add)


def _folders() -> tuple[str, ...]:
    """Where our files are, as coverage.py writes it: without links."""
    from importlib.util import find_spec

    found = (find_spec(package) for package in _PACKAGES)
    places = [spec.origin for spec in found if spec is not None and spec.origin is not None]
    return tuple(os.path.join(os.path.dirname(os.path.realpath(place)), "") for place in places)
