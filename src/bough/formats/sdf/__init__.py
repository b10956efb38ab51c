"""SDF, the format of Gazebo: single models of versions 1.4 to 1.11."""
