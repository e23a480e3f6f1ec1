"""Probes of what torch measures to choose: templates, configurations, libraries' functions.

May not know the wrapper.
"""
