"""A recorded graph compiled again, for another target or with another setting.

Runs in a process of its own; may not know the program that the graph came from.
"""
