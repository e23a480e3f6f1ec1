"""Contracts as files, and what a check of one says to people and to CI systems: one module for each format.

May not know: commands, dumps, how a contract is made or compared.
"""
