"""Robots that learn: gymnasium's tasks on bough's simulation."""
