"""What changes a compile, and is loaded only by the command that asks for it: steering, replay, compiling for targets;
and what runs compiled code a second time: the check of numerics.

No probe may know it.
"""
