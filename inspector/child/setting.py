"""What the command passes to every process of its run, in one environment variable. Light: loaded at
interpreter start.
"""

import json
import os
from collections.abc import Mapping, MutableMapping, Sequence

VARIABLE = "INSPECT_COMPILE"
PYTHON_PATH = "PYTHONPATH"
BOOTSTRAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap")


_WORDS = 1000
"""Characters of a command that are passed on: with a variable of 128 kB the system starts no process."""
as_json, _FROM_JSON = json.JSONEncoder().encode, json.JSONDecoder().decode
"""Not `json.dumps` and `json.loads`, which a test may have replaced."""
MORE = "…"
"""Stands for the words of a command beyond that."""


class Setting:
    """The contents of the variable; plain values, so that they survive any way of starting a process."""

    def __init__(
        self,
        *,
        root: str,
        pid: int,
        python_path: str | None,
        plain: bool,
        run: Mapping[str, object] | None = None,
        quiet: bool = False,
        leader: int | None = None,
        top: str | None = None,
        serves: int | None = None,
        target: str | None = None,
        argv: Sequence[str] | None = None,
        replay_of: str = "",
        config: Mapping[str, str] | None = None,
        steer: Mapping[str, object] | None = None,
        numerics: Mapping[str, object] | None = None,
        trial: Mapping[str, str] | None = None,
        words: Sequence[str] | None = None,
        own: str | None = None,
        heard: Sequence[int] | None = None,
    ) -> None:
        self.root = root
        """The dump, an absolute path."""
        self.pid = pid
        """The first process of the run, whose records are at the top of the dump."""
        self.python_path = python_path
        """PYTHONPATH as it was, or None if it was not set."""
        self.plain = plain
        """Whether `os.environ` looks as in a plain run. Not for a COMMAND: torchrun copies `os.environ` for its
        workers.
        """
        self.run = dict(run or {})
        """The options of `run`, as plain values: `RunConfig` is not loaded before it is needed."""
        self.quiet = quiet
        """Print nothing at the end: the terminal belongs to the TUI."""
        self.leader = leader
        """The first watched Python process of its branch, which prints the closing lines. None until there is one."""
        self.serves = serves
        """The process that this one compiles graphs for."""
        self.target = target
        """The GPU that this process compiles for, in the place of the device that is here."""
        self.argv = None if argv is None else _first_words(argv)
        """The program's command, if this process is not the program; of a long one the first words."""
        self.replay_of = replay_of
        """The recorded graph that this process compiles again."""
        self.config = dict(config or {})
        """The settings for that, as in run.json."""
        self.steer = dict(steer) if steer is not None else None
        """What decides in fusion beside the scheduler, for `lowering/intervention/steer.py`. None in a plain run."""
        self.numerics = dict(numerics) if numerics is not None else None
        """Which calls are checked: the fields of `facts.numerics.NumericsRequest`. None in a plain run."""
        self.trial = dict(trial) if trial is not None else None
        """The trial of `tune` that this process is, for `lowering/intervention/trial`: nothing is recorded then."""
        self.words = None if words is None else _first_words(words)
        """The first process's command, or its first words, for a run that no command of ours has started but
        INSPECT_COMPILE=1 or `install()`; None for any other.
        """
        self.own = own
        """What the user has set our variable to, or None if they have not."""
        self.heard = None if heard is None else list(heard)
        """Device and number of the file that was the first process's stderr, for the lines of `--live`."""
        self.top = top
        """Where other processes have their parts, if not in `root`: for one of several ranks, the dump of them all."""

    @property
    def has_targets(self) -> bool:
        """Are graphs compiled for GPUs that are not here?"""
        return bool(self.run.get("targets"))

    @property
    def is_left_on(self) -> bool:
        """Was this run started from inside? Where nothing is compiled then, nothing is left or said."""
        return self.words is not None

    @property
    def is_tried(self) -> bool:
        """True for one of many runs of which few are looked at: derived files are made only for a reader."""
        return self.steer is not None and "limit" in self.steer

    def encode(self) -> str:
        """The variable's value."""
        return as_json(vars(self))

    @classmethod
    def decode(cls, text: str) -> "Setting":
        """The inverse of `encode`; raises ValueError or TypeError for anything else."""
        return cls(**_FROM_JSON(text))

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the bootstrap added."""
        behind = [self.python_path] if self.python_path else []
        return {**base, PYTHON_PATH: os.pathsep.join([BOOTSTRAP, *behind]), VARIABLE: self.encode()}

    def open_door(self, environment: dict[str, str]) -> None:
        """Change `environment` so that the process started with it is watched, and does not see that it is."""
        changed = {"python_path": environment.get(PYTHON_PATH), "plain": True, "serves": os.getpid(), "words": None}
        own = Setting(**{**vars(self), **changed})
        environment.update(own.environment(environment))

    def close_door(self, environment: MutableMapping[str, str]) -> None:
        """Change `environment` so that the process started with it is not watched."""
        environment.pop(VARIABLE, None)


def _first_words(words: Sequence[str]) -> list[str]:
    """As many words as are passed on."""
    kept: list[str] = []
    room = _WORDS
    for word in words:
        room -= len(word) + 1
        if room < 0:
            return [*kept, MORE]
        kept.append(word)
    return kept


def own_value(environment: Mapping[str, str]) -> str | None:
    """What the user has set our variable to, also in a run that this process is already part of."""
    text = environment.get(VARIABLE)
    try:
        return Setting.decode(text).own if text is not None and text.startswith("{") else text
    except (ValueError, TypeError):
        return text


def python_path_without_bootstrap(environment: Mapping[str, str]) -> str | None:
    """PYTHONPATH as it was before the run that this process is already part of, or None if it was not set."""
    path = environment.get(PYTHON_PATH)
    if path is None or BOOTSTRAP not in path.split(os.pathsep):
        return path
    outer = environment.get(VARIABLE)
    try:
        return Setting.decode(outer or "").python_path
    except (ValueError, TypeError):
        return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry != BOOTSTRAP) or None
