"""TORCH_TRACE logs, torch's structured trace of a process, as tlparse reads them.

May not know files: a log is lines of bytes here, and a file of the dump a text with a name.
"""
