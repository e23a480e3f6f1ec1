"""Compiles a recorded graph again. It runs code from a dump, and is loaded only by the command that asks for it."""
