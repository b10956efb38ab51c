"""Maximal coordinates: systems, auxiliary constraints, models and linkages; the public functions."""
