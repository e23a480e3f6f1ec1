"""Processes of our own, each started for one job: compiling for a target, a replay, a measurement of this machine.

May not know the program: what they need is handed to them.
"""
