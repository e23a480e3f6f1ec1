"""What was compiled as a contract: figures that a team keeps, rules of what may differ, and what differs from them.

May not know: torch, the file that the contract is kept in, views.
"""
