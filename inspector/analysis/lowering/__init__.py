"""How FX nodes became IR: step by step, what was inlined, and the IR's text made readable.

May not know kernels: what is said here holds before the scheduler has run.
"""
