"""Data with sources: what is known independently of any compile.

May not know any compile.
"""
