"""Kernels and their launches: what each call computes, statement by statement, and how it was compiled.

May not know the bytes of a launch (`cost`).
"""
