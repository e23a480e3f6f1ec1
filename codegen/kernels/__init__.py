"""Probes of generated kernels: their source, statements and loops, and each form down to machine code.

May not know the wrapper that launches them.
"""
