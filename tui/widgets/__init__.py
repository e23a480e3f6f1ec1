"""The pieces that every view is made of."""
