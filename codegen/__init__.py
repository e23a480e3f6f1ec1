"""Probes for everything from the schedule to the kernels and the wrapper.

May not know what is made of the facts: analyses, tables or screens.
"""
