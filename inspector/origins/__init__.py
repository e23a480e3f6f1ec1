"""Reads what torch itself wrote of a compile into facts of a dump: one folder or module an origin.

Bytes in, facts out: nothing that was read is run, imported or unpickled, every size has a limit, and what cannot be
read is counted. May not know torch, nor what is made of the facts.
"""
