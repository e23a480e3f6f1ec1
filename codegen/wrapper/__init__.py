"""Probes of the wrapper: each line of the code that allocates, launches and frees.

May not know what a kernel computes.
"""
