"""What pyproject.toml cannot say; everything else stands there."""

import tomllib
from pathlib import Path

from setuptools import Distribution, find_packages, setup


class WithDataFiles(Distribution):
    """An editable install has the data files, too: our `.pth` file, which lets INSPECT_COMPILE=1 record a program."""

    has_data = Distribution.has_data_files
    """setuptools asks for it by this name before it installs them, and has it under another one."""


def packages() -> list[str]:
    """Every folder with an `__init__.py`: setuptools itself discovers none through `package-dir`."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    roots: dict[str, str] = project["tool"]["setuptools"]["package-dir"]
    return [
        name for root, folder in roots.items() for name in (root, *(f"{root}.{sub}" for sub in find_packages(folder)))
    ]


setup(distclass=WithDataFiles, packages=packages())
