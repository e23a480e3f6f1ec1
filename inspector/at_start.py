"""Functions of Python's own, written in C, as they were when the process began. Light: loaded at interpreter start.

A test replaces clocks, `open` or `print` around what it tests, which may be the first call of a compiled function. What
our hooks called then would be that test's: it would be told of calls that are none of the program's, and hooks would
get its answers.
"""

import gc
import os
import time


class AtStart:
    """They are attributes of a class: what freezes time, or pretends files, looks through all modules for what they
    import of `time` and `os`.
    """

    monotonic = time.monotonic
    clock = time.clock_gettime
    perf_counter = time.perf_counter
    collection_counts = gc.get_count
    collection_stats = gc.get_stats
    time = time.time
    open = open
    print = print
    open_descriptor = os.open
    close = os.close
    seek = os.lseek
    truncate = os.ftruncate
    write = os.write
    make_folder = os.mkdir
    names_in = os.listdir
    remove = os.unlink
    status = os.stat
    traceback_of = BaseException.__dict__["__traceback__"].__get__
    set_traceback = BaseException.__dict__["__traceback__"].__set__
    """As an attribute of an exception it may be refused, as by a frozen dataclass."""
