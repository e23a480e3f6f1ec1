"""Commands about two compiles. May not know another command but what all of them share."""
