"""A compiled actor-critic over sparse features, for games that offer them."""
