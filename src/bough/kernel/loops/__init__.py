"""Mechanisms with loops: the public functions, and small dense systems with a rank test."""
