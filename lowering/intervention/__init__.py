"""What changes a compile, and is loaded only by the command that asks for it: steering, replay, compiling for targets.

No probe may know it.
"""
