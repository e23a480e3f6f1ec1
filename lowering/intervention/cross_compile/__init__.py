"""Compiles a program's graphs for a GPU that is not present: torch and Triton believe that it is, nothing is launched.

May not know the user's program, except for what runs in its process: `program`.
"""
