"""The parent of an inspected program: starts it, follows it, holds its pty."""
