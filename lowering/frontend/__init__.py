"""Probes in front of Inductor: Dynamo's frames and guards, the call path, timers and debug files.

May not know the probes behind the scheduler.
"""
