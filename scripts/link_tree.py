"""Lay out build/typing/inspect_compile: links in the shape of the import package, for tools that only read files.

mypy and import-linter resolve imports by folder names and do not see the map that an editable install uses
(inspector/ is imported as inspect_compile, lowering/ as inspect_compile.lowering, and so on).
"""

import os
import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "typing"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    package_dirs: dict[str, str] = project["tool"]["setuptools"]["package-dir"]
    shutil.rmtree(TREE, ignore_errors=True)
    for package, folder in sorted(package_dirs.items()):
        target = TREE / package.replace(".", "/")
        if "." in package:
            link(target, ROOT / folder)
            continue
        target.mkdir(parents=True)
        for entry in (ROOT / folder).iterdir():
            if entry.name != "__pycache__":
                link(target / entry.name, entry)


def link(name: Path, to: Path) -> None:
    name.symlink_to(os.path.relpath(to, name.parent))


if __name__ == "__main__":
    main()
