"""The conda recipe asks for what pyproject.toml asks for, and has no version of its own."""

import re
import tomllib
from pathlib import Path
from typing import Any

import jinja2
import yaml

import inspect_compile

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CALLED = {"graphviz": "python-graphviz", "torch": "pytorch"}
"""Packages with another name on conda-forge."""


def load_file_regex(load_file: str, regex_pattern: str, from_recipe_dir: bool) -> re.Match[str] | None:
    """As conda-build has it."""
    assert from_recipe_dir
    path = ROOT / "recipe" / load_file
    return re.search(regex_pattern, path.read_text(encoding="utf-8"))


def recipe() -> dict[str, Any]:
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    rendered = jinja2.Template(text).render(load_file_regex=load_file_regex, PYTHON="python")
    found: dict[str, Any] = yaml.safe_load(rendered)
    return found


def needs(requirements: list[str]) -> set[tuple[str, str]]:
    """Names and bounds, as conda-forge calls them."""
    split = (re.match(r"([\w-]+)\s*(.*)", one) for one in requirements)
    return {(CALLED.get(found[1], found[1]), found[2]) for found in split if found is not None}


def test_the_version_is_the_packages() -> None:
    assert recipe()["package"]["version"] == inspect_compile.__version__


def test_it_needs_what_the_wheel_needs() -> None:
    run = needs(recipe()["requirements"]["run"])
    assert run == needs(PROJECT["dependencies"]) | {("python", PROJECT["requires-python"])}
    assert needs(recipe()["requirements"]["run_constrained"]) == needs(PROJECT["optional-dependencies"]["record"])


def test_it_starts_what_the_wheel_starts() -> None:
    (script,) = PROJECT["scripts"].items()
    assert recipe()["build"]["entry_points"] == [" = ".join(script)]
