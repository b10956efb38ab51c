"""Files of robots: URDF and others into models, and out again."""
