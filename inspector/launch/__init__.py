"""The parent of an inspected program: starts it, follows it, owns its pty.

May not know torch, tables or screens.
"""
