"""Whether a command may start a Python, as far as its words say. Loaded when a watched program starts another."""

import os
import re
import shutil
import sys
from collections.abc import Sequence

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*[dt]?")
_SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"})
_STARTERS = frozenset(
    {"bazel", "ctest", "gmake", "java", "just", "make", "mamba", "micromamba", "mpiexec", "mpiexec.hydra", "mpirun"}
    | {"ninja", "node", "orterun", "pixi", "prterun", "raylet", "salloc", "sbatch", "screen", "srun", "systemd-run"}
    | {"tmux", "uv", "uvx"}
)
"""Programs that are no scripts and start what a file, a recipe or a server says, which is not in their words."""
_WITH_TEXT = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
"""The option of a shell behind which its commands stand; without it they are in a file or come on stdin."""
_WORD = re.compile(r"[^\s;&|()<>{}\"'`=,]+")
_UNKNOWN = re.compile(
    r"(?:^|[\n;&|({]|\b(?:do|else|env|eval|exec|nohup|then|time)\s)[ \t]*(?:\w+=[^\s;&|({]*[ \t]+)*[\"']?\$"
)
"""Where a shell starts what a variable holds."""
_MOST = 20_000
"""Characters of a command that are looked at."""


def may_start_python(words: Sequence[str], folder: str) -> bool:
    """False if none of the words names a Python, a script, a shell or what else starts programs that the words do not
    name. `folder` is the directory in which the command runs.
    """
    if not words or sum(map(len, words)) > _MOST:
        return True
    first, *others = words
    if os.path.basename(first) not in _SHELLS:
        if _leads(first, folder):
            return True
    elif not any(_WITH_TEXT.fullmatch(word) for word in others):
        return True
    for text in others:
        expanded = os.path.expandvars(text)
        if _UNKNOWN.search(expanded) or any(_leads(word, folder) for word in _WORD.findall(expanded)):
            return True
    return False


def _leads(word: str, folder: str) -> bool:
    """Is this word what may lead to a Python?"""
    if word.startswith("-"):
        return False
    name = os.path.basename(word)
    if name == word and _starts_others(name):
        return True
    path = (shutil.which(word) if name == word else None) or os.path.join(folder, word)
    if not os.path.isfile(path):
        return False
    real = os.path.realpath(path)
    if any(map(_starts_others, (name, os.path.basename(real)))) or real == os.path.realpath(sys.executable):
        return True
    return name.endswith(".sh") or _is_script(path)


def _starts_others(name: str) -> bool:
    """Is a program of this name a Python, or does it start what its words do not name?"""
    return name in _SHELLS or name in _STARTERS or _PYTHON.fullmatch(name) is not None


def _is_script(path: str) -> bool:
    """Does the system start another program for it?"""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!" and os.access(path, os.X_OK)
    except OSError:
        return False
