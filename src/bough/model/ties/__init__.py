"""Constraints that say what must vanish, on whatever has points: the contract of users' own, and its trial."""
