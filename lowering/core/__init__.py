"""What every probe needs: plain values of the compiler's objects, and the graph that an object belongs to.

May not know any probe.
"""
