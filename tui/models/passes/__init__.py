"""What the views of FX graphs and passes show, as plain values. May not know widgets or textual."""
