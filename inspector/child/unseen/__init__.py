"""Keeps what a watched process starts, and what counts its lines, from seeing us. Light: may not know torch or a
package that has to be installed.
"""
