"""What the view of kernels shows, as plain values. May not know widgets or textual."""
