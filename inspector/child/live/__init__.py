"""What `--live` tells while a program runs: lines on stderr, and figures in a file. Called where compiles are recorded,
never by a call of compiled code. It may not know what a dump holds, or what intervenes.
"""
