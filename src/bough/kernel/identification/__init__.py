"""Inertial parameters of a model: regressors, base parameters, physical consistency, and identification from data."""
