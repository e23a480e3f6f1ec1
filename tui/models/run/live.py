"""What is being compiled at the moment."""

import time

from inspect_compile.analysis.frontend.progress import progress
from inspect_compile.dump import Dump
from inspect_compile.tables.frontend.progress import progress_words, short_words


def progress_now(dump: Dump) -> tuple[str, str]:
    """The stage in short, for the line at the top, and everything in a sentence; empty if nothing is compiled."""
    found = progress(dump, time.time())
    return ("", "") if found is None else (short_words(found), progress_words(found))
