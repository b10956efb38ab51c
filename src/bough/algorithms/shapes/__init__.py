"""Contact points of pairs of shapes, a file for each kind of first shape, over scalars."""
