"""Reads what torch itself wrote of a compile into facts of a dump: one module an origin.

Bytes in, facts out: nothing that was read is run or unpickled, and what cannot be read is counted.
"""
