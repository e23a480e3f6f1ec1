"""The wheel holds what the checkout holds, and runs and records from where it is installed."""

import email
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inspect_compile
from tests.conftest import run_sample

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]


def files_of_package() -> dict[str, Path]:
    """Each tracked or new file of the mapped folders, by its path below site-packages."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS.values()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    names = {folder: package.replace(".", "/") for package, folder in FOLDERS.items()}
    return {
        f"{names[top]}/{rest}": ROOT / top / rest
        for top, _, rest in (path.partition("/") for path in listed)
        if (ROOT / top / rest).is_file()
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the checkout, so that no file left by an earlier build can slip in."""
    source = tmp_path_factory.mktemp("source")
    for path in files_of_package().values():
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", target, source],
        check=True,
        timeout=120,
    )
    return next(target.glob("*.whl"))


def test_every_module_stands_in_a_package() -> None:
    """A folder without `__init__.py` imports in the checkout and is missing from the wheel. The bootstrap is data."""
    packages = {str(Path(name).parent) for name in files_of_package() if name.endswith("/__init__.py")}
    homeless = [name for name in files_of_package() if name.endswith(".py") and str(Path(name).parent) not in packages]
    assert [name for name in homeless if "/bootstrap/" not in name] == []


def test_wheel_holds_every_file(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    at_start = f"inspect_compile-{inspect_compile.__version__}.data/purelib/inspect_compile.pth"
    assert packed == {*files_of_package(), at_start}
    assert "inspect_compile/py.typed" in packed


def test_wheel_runs_from_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    code = "import inspect_compile, sys; print(inspect_compile.__file__, inspect_compile.__version__)"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [str(site / "inspect_compile" / "__init__.py"), inspect_compile.__version__]


EAGER = "import torch; torch.compile(lambda x: x + 1, backend='eager')(torch.ones(1))"


def test_left_on_in_an_environment_that_has_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """As pip installs it: Python reads our `.pth` file at its start."""
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, timeout=120)
    assert (target / "inspect_compile.pth").read_text() == (
        ROOT / "inspector/child/bootstrap/inspect_compile.pth"
    ).read_text()
    # The other packages are those of the tests' environment; its own `.pth` files are not read there.
    others = next(path for path in sys.path if path.endswith("site-packages"))
    code = f"import site, sys; sys.path.append({others!r}); site.addsitedir({str(target)!r}); {EAGER}"
    variables = {**os.environ, "INSPECT_COMPILE": "1"}
    subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, env=variables, check=True)
    assert len(list((tmp_path / "torch_compile_debug").glob("run_*/dynamo.jsonl"))) == 1


def test_left_on_in_an_editable_install(tmp_path: Path) -> None:
    """Where the tests run: pip has put the file beside the link to the checkout."""
    variables = {**os.environ, "INSPECT_COMPILE": "1"}
    subprocess.run([sys.executable, "-c", EAGER], cwd=tmp_path, env=variables, check=True, capture_output=True)
    (dump,) = (tmp_path / "torch_compile_debug").iterdir()
    assert (dump / "dynamo.jsonl").is_file()


def test_a_dump_is_read_without_torch_and_the_torch_of_a_program_stays(wheel: Path) -> None:
    """Only an extra asks for torch: installing beside a program replaces nothing."""
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    needs = email.message_from_bytes(zipfile.ZipFile(wheel).read(name)).get_all("Requires-Dist") or []
    named = {re.match(r"[\w-]+", one)[0]: one.partition(";")[2].strip() for one in needs}  # type: ignore[index]
    assert named["torch"] == 'extra == "record"'
    assert not {"numpy", "sympy", "triton"} & {name for name, when in named.items() if not when}
    assert named["msgspec"] == ""


def test_version_is_the_wheels(wheel: Path) -> None:
    assert wheel.name.startswith(f"inspect_compile-{inspect_compile.__version__}-")


def test_console_script_is_what_python_dash_m_runs() -> None:
    """Both start at `inspect_compile.commands:main`."""
    assert PROJECT["project"]["scripts"] == {"inspect-compile": "inspect_compile.commands:main"}
    script = Path(sys.executable).with_name("inspect-compile")
    runs = [
        subprocess.run([*command, "--help"], capture_output=True, text=True, check=False)
        for command in ([str(script)], [sys.executable, "-m", "inspect_compile"])
    ]
    assert [run.returncode for run in runs] == [0, 0]
    assert runs[0].stdout == runs[1].stdout
    assert "show" in runs[0].stdout


def test_wheel_records(wheel: Path, tmp_path: Path, inductor_cache: Path) -> None:
    """The bootstrap and the probes work from where pip puts them, not only from the checkout."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    dump = tmp_path / "dump"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(dump)]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    result = run_sample(command, "conv_bias", (), tmp_path, inductor_cache, environment)
    assert result.returncode == 0, result.stderr
    assert list(dump.glob("torchinductor/*/output_code.py"))
    assert list(dump.glob("torchinductor/*/lowering.jsonl"))
