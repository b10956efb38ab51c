"""Soft contact on a tree: its law, Newton steps that cost one sweep over the tree, and steps of time."""
