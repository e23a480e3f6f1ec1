"""Compiles a recorded graph again. It runs code from a dump, and is loaded by the command that asks for it alone."""
