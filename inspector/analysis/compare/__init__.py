"""Two compiles side by side: ranks, runs, replays, and what another value of a setting changes.

May use every other room, and may not know any view; no other room but findings knows that there can be a second
compile.
"""
