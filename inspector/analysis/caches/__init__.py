"""The caches that torch keeps graphs in: what each lookup found, and what kept a key from being one that was there.

May not know what the graphs became: no room but `dumps`.
"""
