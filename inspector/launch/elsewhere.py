"""Recording with the Python of another environment, without installing anything there.

What runs in the program's process is this package and the few libraries that it needs; they are put on PYTHONPATH as
links to what is installed here.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from inspect_compile.errors import CommandError

_NEEDED: Final = ("msgspec", "rich", "pygments", "markdown_it", "mdurl", "graphviz")
_SECONDS: Final = 120
Plain = bool | int | float | str | None
_ASKED: Final = """\
import importlib.metadata, importlib.util, json, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
missing = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
names = ("torch", "triton")
print(json.dumps({"tag": sys.implementation.cache_tag, "missing": missing, "versions": {n: version(n) for n in names}}))
"""

_SETTINGS: Final = """\
import importlib, json
found = {}
for room in ("_inductor", "_dynamo", "_functorch"):
    config = importlib.import_module(f"torch.{room}.config")
    for name, value in config.get_config_copy().items():
        if value is None or isinstance(value, (bool, int, float, str)):
            found[f"{room}.{name}"] = value
print(json.dumps(found))
"""
_WITH_SETTINGS: Final = """\
import importlib, json, os, runpy, sys
for name, value in json.loads(sys.argv[1]).items():
    room, _, setting = name.partition(".")
    setattr(importlib.import_module(f"torch.{room}.config"), setting, value)
is_module = sys.argv[2] == "-m"
del sys.argv[: 3 if is_module else 2]
if is_module:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    script = os.path.abspath(sys.argv[0])  # as __file__ is where Python runs a script itself
    sys.path[0] = os.path.dirname(script)
    runpy.run_path(script, run_name="__main__")
"""


class Environment(msgspec.Struct, frozen=True):
    """A Python that programs can be recorded with."""

    python: str
    tag: str
    """What extension modules are compiled for: `cpython-311`."""
    missing: tuple[str, ...]
    """The libraries that we need and that it does not have."""
    versions: dict[str, str]
    """Of torch and triton; empty where there is none."""


def environment(given: str) -> Environment:
    """The environment at a path: a folder with bin/python, or a Python executable. CommandError if there is none, or
    one without torch."""
    path = Path(given)
    python = next((one for one in (path / "bin" / "python", path / "Scripts" / "python.exe") if one.is_file()), path)
    if not python.is_file() or not os.access(python, os.X_OK):
        raise CommandError(f"{given}: not an environment: neither a folder with bin/python nor a Python executable")
    try:
        done = subprocess.run(
            [os.path.abspath(python), "-c", _ASKED, *_NEEDED],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        said = msgspec.json.decode(done.stdout.splitlines()[-1] if done.stdout.strip() else "", type=dict)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise CommandError(f"{given}: this does not behave like a Python: {type(error).__name__}") from None
    found = Environment(os.path.abspath(python), said["tag"], tuple(said["missing"]), said["versions"])
    if not found.versions["torch"]:
        raise CommandError(f"{given}: torch is not installed in this environment")
    if found.tag != sys.implementation.cache_tag and "msgspec" in found.missing:
        raise CommandError(
            f"{given}: its {found.tag} cannot load what is installed here for {sys.implementation.cache_tag}; install"
            f" ours there: {found.python} -m pip install inspect-compile"
        )
    return found


def settings(found: Environment) -> dict[str, Plain]:
    """The settings of torch there that are plain values: `_inductor.max_fusion_size`. Empty if it does not tell."""
    try:
        done = subprocess.run(
            [found.python, "-c", _SETTINGS], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        return msgspec.json.decode(done.stdout.splitlines()[-1] if done.stdout.strip() else "", type=dict)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}


def record(
    found: Environment,
    dump: Path,
    links: Path,
    words: Sequence[str],
    options: Sequence[str],
    own_settings: Mapping[str, Plain] | None = None,
) -> int:
    """Run the program with that Python, recorded into `dump`; returns its exit status. `links` is a folder of ours.
    With `own_settings` these settings of torch are set before the program begins.
    """
    if own_settings is not None:
        words = ["-c", _WITH_SETTINGS, msgspec.json.encode(own_settings).decode(), *words]
    _link(found, links)
    path = os.pathsep.join(filter(None, (str(links), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(dump), *options]
    own = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([*command, "--", found.python, *words], env=own, check=False).returncode


def _link(found: Environment, links: Path) -> None:
    """Put links to our package, and to what the environment lacks of what it needs, into a folder."""
    import inspect_compile

    package = links / "inspect_compile"
    package.mkdir(parents=True, exist_ok=True)
    for entry in Path(next(iter(inspect_compile.__path__))).iterdir():
        _to(entry, package / entry.name)
    for room in ("lowering", "codegen", "tui"):
        spec = importlib.util.find_spec(f"inspect_compile.{room}")
        for place in () if spec is None else spec.submodule_search_locations or ():
            _to(Path(place), package / room)
    for name in found.missing:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            source = Path(spec.origin)
            source = source.parent if spec.submodule_search_locations else source
            _to(source, links / source.name)


def _to(source: Path, link: Path) -> None:
    if not link.is_symlink() and not link.exists():
        link.symlink_to(source)
