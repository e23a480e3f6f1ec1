"""What the view of fusion shows, as plain values. May not know widgets or textual."""
