"""Small boards of Mozaic solved: value iteration over all positions."""
