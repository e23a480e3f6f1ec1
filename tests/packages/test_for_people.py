"""What a repository's host and an editor read: workflows, the action, hooks, templates, the problem matcher."""

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspect_compile.commands import COMMANDS, Parser
from inspect_compile.contracts.text import text
from tests.contracts.test_reports import REPORT

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI_PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in loaded(workflow)["jobs"].values() for step in job["steps"]]


def options_of_check() -> set[str]:
    (listed,) = (one for one in COMMANDS if one.name == "check")
    parser = Parser(listed)
    listed.load().configure(parser)
    return {option for action in parser._actions for option in action.option_strings}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_what_there_is(workflow: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = [word for step in steps(workflow) for word in shlex.split(step.get("run", ""), comments=True)]
    lines = [line.split() for step in steps(workflow) for line in step.get("run", "").splitlines()]
    made = [
        word for words in lines if words[:1] == ["make"] for word in words[1:] if "=" not in word and "{" not in word
    ]
    assert {word for word in made if re.fullmatch(r"[a-z-]+", word)} <= targets
    modules = [
        called[place + 1] for place, word in enumerate(called[:-1]) if word == "-m" and "scripts" in called[place + 1]
    ]
    assert all((ROOT / f"{module.replace('.', '/')}.py").exists() for module in modules)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_ends(workflow: Path) -> None:
    assert loaded(workflow)["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] <= 90 for job in loaded(workflow)["jobs"].values())


def test_the_action_gives_check_options_that_it_has() -> None:
    action = loaded(ROOT / "action.yml")
    run = action["runs"]["steps"][-1]["run"]
    assert set(re.findall(r"--[\w-]+", run)) <= options_of_check()
    env = action["runs"]["steps"][-1]["env"]
    assert {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]} == set(env.values())
    assert "${{" not in run  # what a caller gives reaches the shell as variables alone


def test_the_hook_is_a_command_and_the_page_gives_it_options_that_it_has() -> None:
    (hook,) = loaded(ROOT / ".pre-commit-hooks.yaml")
    assert hook["entry"] == "inspect-compile check"
    (block,) = (found for found in re.findall(r"```yaml\n(.*?)```", CI_PAGE, re.DOTALL) if hook["id"] in found)
    (used,) = yaml.safe_load(block)["hooks"]
    assert used["id"] == hook["id"]
    assert {word for word in used["args"] if word.startswith("-")} <= options_of_check()


@pytest.mark.parametrize(
    "template", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name
)
def test_a_template_asks_for_a_dump_without_private_data(template: Path) -> None:
    fields = loaded(template).get("body", [])
    asked = [field["attributes"].get("description", "") for field in fields if field.get("id") == "dump"]
    assert all("--redact" in words for words in asked)
    assert asked or template.name == "config.yml"


def test_the_problem_matcher_finds_the_lines_of_check() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", CI_PAGE, re.DOTALL)
    (task,) = json.loads(block)["tasks"]
    first, second = (re.compile(one["regexp"]) for one in task["problemMatcher"]["pattern"])
    lines = text(REPORT).splitlines()
    pairs = [(one, other) for one, other in itertools.pairwise(lines) if first.match(one) and second.match(other)]
    ((one, other),) = pairs
    message, place = first.match(one), second.match(other)
    assert message is not None
    assert message[1].startswith("graph breaks of f: 0 → 1")
    assert place is not None
    assert place.groups() == ("src/a,b:c.py", "12")
    assert {word for word in shlex.split(task["command"]) if word.startswith("-")} <= options_of_check()


def test_the_examples_of_the_pytest_plugin_pass(tmp_path: Path) -> None:
    example = tmp_path / "test_compiled.py"
    example.write_text((ROOT / "samples" / "pytest" / "test_compiled.py").read_text())
    base = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for words in ([], ["--inspect-compile-lock=update"], ["--inspect-compile-lock=check"]):
        done = subprocess.run([*base, *words, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert len([path for path in (tmp_path / "compile_locks").rglob("*") if path.is_file()]) == 2
