"""Watches a process without the command: because INSPECT_COMPILE=1 is set, or because the program called `install()`.

Light: loaded at interpreter start, by the `.pth` file that is installed beside the package.
"""

import os
import sys
import time

from inspect_compile.at_start import AtStart
from inspect_compile.child.limits.sizes import bytes_of
from inspect_compile.child.setting import BOOTSTRAP, PYTHON_PATH, VARIABLE, Setting, own_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_compile.child.run_config import Level

ON = ("1", "on", "true", "yes")
LIVE = {"live": "text", "live=json": "json"}
"""On, and told on stderr while it happens: value of the variable → form of the lines."""
OFF = ("0", "off", "false", "no", "")
LEVELS = ("facts", "texts", "all")
CACHES = ("bypass", "auto", "keep")

LEVEL: "Level" = "facts"
KEEP = 20
MAX_BYTES = 200 << 20
CACHE = "auto"
"""What is recorded where nothing else is asked for: little enough to be left on."""

DUMPS = f"{VARIABLE}_DUMPS"
OPTIONS = (
    DUMPS,
    f"{VARIABLE}_LEVEL",
    f"{VARIABLE}_KEEP",
    f"{VARIABLE}_MAX_DUMP",
    f"{VARIABLE}_CACHE",
    f"{VARIABLE}_LIVE_METRICS",
)
ELSEWHERE = (f"{VARIABLE}_CACHE_DIR", f"{VARIABLE}_CACHE_BYTES", f"{VARIABLE}_THEME")
"""Variables with the same beginning that are for other things."""

BASE = "torch_compile_debug"


def enter() -> None:
    """Watch this process as the environment says. Raises nothing: at interpreter start that would be printed."""
    try:
        text = os.environ.get(VARIABLE, "")
        if text.startswith("{"):
            # A process of a run that goes on. Where the command has started it, our sitecustomize comes after this.
            if BOOTSTRAP not in os.environ.get(PYTHON_PATH, "").split(os.pathsep):
                _watch(Setting.decode(text))
            return
        if text.lower() in OFF:
            return
        try:
            setting = from_environment(os.environ)
        except ValueError as error:
            _complain(str(error))
            return
        _watch(setting)
    except Exception:
        return


def from_environment(environment: "Mapping[str, str]") -> Setting:
    """The setting of a run that begins with this process. Raises ValueError, whose text names the variable."""
    asked = environment.get(VARIABLE, "")
    if asked.lower() not in (*ON, *LIVE):
        raise ValueError(f"{VARIABLE}={asked} is neither 1 nor 0 nor live")
    for name in environment:
        if name.startswith(f"{VARIABLE}_") and name not in (*OPTIONS, *ELSEWHERE):
            raise ValueError(f"{name} is not one of our variables; these are: {', '.join(OPTIONS)}")

    def given(name: str) -> str | None:
        return environment.get(f"{VARIABLE}_{name}") or None

    try:
        keep = given("KEEP")
        return new_setting(
            environment.get(DUMPS) or None,
            level=given("LEVEL") or LEVEL,
            keep=KEEP if keep is None else int(keep) if keep.isdecimal() else keep,
            max_bytes=given("MAX_DUMP") or MAX_BYTES,
            cache=given("CACHE") or CACHE,
            live=LIVE.get(asked.lower(), ""),
            live_metrics=given("LIVE_METRICS") or "",
        )
    except ValueError as error:
        raise ValueError(f"{VARIABLE}_{error}") from None


def new_setting(
    dumps: "str | os.PathLike[str] | None",
    *,
    level: object,
    keep: object,
    max_bytes: object,
    cache: object,
    live: object = "",
    live_metrics: str = "",
) -> Setting:
    """A run that begins with this process, whose dump is a new folder in `dumps`. Raises ValueError: what is asked for
    behind the name of the option in capitals.
    """
    if level not in LEVELS:
        raise ValueError(f"LEVEL={level}: no such level; there are {', '.join(LEVELS)}")
    if cache not in CACHES:
        raise ValueError(f"CACHE={cache}: no such mode; there are {', '.join(CACHES)}")
    if live not in ("", *LIVE.values()):
        raise ValueError(f"LIVE={live}: no such form; there are {', '.join(LIVE.values())}")
    if type(keep) is not int or keep < 1:
        raise ValueError(f"KEEP={keep} is not a number of recompiles; write 1, 2, …")
    size = max_bytes if type(max_bytes) is int else bytes_of(str(max_bytes))
    if size is None or size < 1:
        raise ValueError(f"MAX_DUMP={max_bytes} is not a size; write 500MB, 2GB, …")
    try:
        here = os.getcwd()
    except OSError:  # it has been removed
        here = os.sep
    pid, now = os.getpid(), AtStart.time()
    stamp = f"{time.strftime('%Y_%m_%d_%H_%M_%S', time.localtime(now))}_{int(now % 1 * 1e6):06d}"
    return Setting(
        root=os.path.join(here, os.fspath(dumps) if dumps is not None else BASE, f"run_{stamp}-pid_{pid}"),
        pid=pid,
        python_path=os.environ.get(PYTHON_PATH),
        plain=True,
        run={
            "level": level,
            "keep": keep,
            "max_bytes": size,
            "cache": cache,
            "live": live,
            "live_metrics": os.path.join(here, live_metrics) if live_metrics else "",
        },
        words=sys.orig_argv[1:],
        own=own_value(os.environ),
    )


def _watch(setting: Setting) -> None:
    from inspect_compile.child import start

    start.watch(setting)


def _complain(reason: str) -> None:
    """Say so once a process imports torch: others have nothing that could be recorded. Its children are not asked."""
    from inspect_compile.child.imports import ImportWatch

    os.environ[VARIABLE] = "0"

    def opened() -> tuple[str, ...]:
        if sys.stderr is not None:
            sys.stderr.write(f"inspect-compile: {reason}: nothing is recorded\n")
        return ()

    ImportWatch("torch", opened, lambda module: None).install()
