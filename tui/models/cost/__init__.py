"""What the view of costs shows, as plain values. May not know widgets or textual."""
