"""Has several starts go step by step: none makes or opens the directory of its dump until all are about to.

STARTS_AT names the directory, STARTS_MEET a folder where the starts meet, STARTS how many there are. It stands in for
the user's own sitecustomize, in the command alone: not in the program that it becomes, nor in what the program starts.
"""

import os
import sys
import time
from typing import Any

ROOT, MEET, COUNT = os.environ.get("STARTS_AT", ""), os.environ.get("STARTS_MEET", ""), os.environ.get("STARTS", "0")
SECONDS = 20.0


def _meet(step: str) -> None:
    folder = os.path.join(MEET, step)
    os.makedirs(folder, exist_ok=True)
    os.close(os.open(os.path.join(folder, str(os.getpid())), os.O_CREAT | os.O_WRONLY))
    deadline = time.monotonic() + SECONDS
    while len(os.listdir(folder)) < int(COUNT) and time.monotonic() < deadline:
        time.sleep(0.0005)


def _wait_before_each_step() -> None:
    steps = {("os.mkdir", ROOT), ("os.listdir", ROOT), ("open", os.path.join(ROOT, "run.json"))}

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.mkdir", "os.listdir", "open") and (step := (event, str(arguments[0]))) in steps:
            steps.discard(step)
            _meet(event)

    sys.addaudithook(heard)


if ROOT and sys.orig_argv[1:3] == ["-m", "inspect_compile"]:
    _wait_before_each_step()
