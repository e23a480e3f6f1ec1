"""The parent of an inspected program: starts it, follows it, owns its pty."""
