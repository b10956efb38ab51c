"""MJCF, the format of MuJoCo: in through MuJoCo's own compiler, and out."""
