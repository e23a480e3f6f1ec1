"""What happened in front of Inductor: Dynamo's frames, their inputs, the call path, and the time each stage took.

May not know what the graphs became: no room but `dumps` and `caches`.
"""
