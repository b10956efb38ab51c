"""Contact, limits and complementarity: the public functions, from kinematics to forces."""
