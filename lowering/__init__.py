"""Probes for everything from the Python frame to the schedule.

May not know what is made of the facts: analyses, tables or screens.
"""
