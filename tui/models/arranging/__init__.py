"""Lists as the user arranged them: filtered, sorted, with columns hidden. May not know widgets or textual."""
