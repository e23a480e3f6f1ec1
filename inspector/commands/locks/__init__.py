"""The commands about contracts: `lock` and `check`, and what they share.

No other room may know a command.
"""
