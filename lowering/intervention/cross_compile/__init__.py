"""Compiling for a GPU that is not there: torch and Triton are told of a device, and launch nothing on it.

May not know the user's program, but for what runs in its process: `program`.
"""
