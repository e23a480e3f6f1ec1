"""The commands that put a dump into a file for others: `report`, `export` and `share`.

No other room may know a command.
"""
