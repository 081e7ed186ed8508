"""Whatever picks an action, for any game."""
