"""Which kernel a name means that some tool printed: its forms in Triton, in C++ and in profiles.

May not know what the kernel costs or computes.
"""
