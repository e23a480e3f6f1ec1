"""The screens, each with its styles in a `.tcss` file.

May not know torch.
"""
