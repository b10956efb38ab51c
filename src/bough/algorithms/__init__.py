"""Algorithms over scalars, one file each, for one mechanism at one instant, in the papers' own form."""
