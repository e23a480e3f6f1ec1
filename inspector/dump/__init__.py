"""The dump directory: its paths, and how it is written and read. Derives nothing from the facts.

May not know torch, nor what is made of the facts.
"""

from inspect_compile.dump.reader import Dump, find_dumps, newest_dump, open_dump, readable_dump
from inspect_compile.dump.writer import Writer

__all__ = ["Dump", "Writer", "find_dumps", "newest_dump", "open_dump", "readable_dump"]
