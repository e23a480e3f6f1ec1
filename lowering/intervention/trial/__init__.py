"""One trial of `tune`, in the program's process: changes put in from outside, the clock of its steps, and its results.

It intervenes, and ends the program once it has seen enough. No plain run loads it, and no probe may know it.
"""
