"""Numbers of a model as inputs: what no mechanism has is refused by name, as a model with these numbers would be."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from bough.model import Inertia
from model_strategies import random_rotation

FLAWED = Inertia.read(1.0, (0, 0, 0), (1.0, 1.0, -0.1), "a body of a file")


def two_bodies() -> bough.Model:
    b = bough.Builder()
    b.add("b1", bough.joints.Revolute("y"), joint_name="j1", mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    b.add("b2", bough.joints.Revolute("x"), "b1", joint_name="j2", mass=2.0, com=(0, 0.3, 0), inertia=(0.1, 0.2, 0.25))
    return b.build()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("mass of b1", -1.0, "mass of b1 is -1, expected a number that is not negative"),
        ("b1", [-1.0, *[0.0] * 3, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], "b1 is -1, expected a number that is not negative"),
        ("inertia of b1", np.diag([1.0, -0.5, 1.0]), "inertia of b1 has the negative principal moment -0.5 kg m²"),
        ("inertia of b1", [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "negative principal moment -1 kg m²"),
        ("b1", [1.0, *[0.0] * 3, 1.0, 0.0, 1.0, 0.0, 0.0, -1.0], "b1 has the negative principal moment -1 kg m²"),
        ("armature of j1", [-1e-3], "armature of j1 is -0.001, expected a number that is not negative"),
        ("damping of j1", [-2.0], "damping of j1 is -2, expected a number that is not negative"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parameters_that_no_mechanism_has_are_refused(name: str, value: Any, told: str, dtype: type) -> None:
    model = two_bodies()
    rnea, plain = bough.function("rnea", model, parameters=[name]), bough.function("rnea", model)
    q = np.full(2, 0.3, dtype)
    x = np.asarray(value, dtype)
    before = np.full((2, 2), 7.0, dtype)
    for given, states, out in ((x, q, None), ([rnea.parameters.entries[0].values.astype(dtype), x], [q, q], before)):
        with pytest.raises(bough.errors.ModelError, match=re.escape(told)):
            rnea(np.asarray(states), q, q, parameters={name: given}, out=out)
    assert (before == 7.0).all()
    with pytest.raises(bough.errors.ModelError, match=re.escape(told)):
        rnea.vjp("parameters")(q, q, q, np.ones(2, dtype), parameters={name: x})
    assert rnea(q, q, q, parameters={name: x}, check=False).shape == (2,)
    np.testing.assert_allclose(rnea(q, q, q), plain(q, q, q), rtol=1e-5)


def test_what_lies_on_the_border_is_legal_and_what_the_model_says_too() -> None:
    """A point and a thin rod have moments that are zero; a payload may take away; files may have what no body has."""
    model, q = two_bodies(), np.full(2, 0.3)
    rnea = bough.function("rnea", model, parameters=["inertia of b1", "mass of b1", "payload of b1", "moments of b2"])
    turned = bough.Placement(rotation=random_rotation(np.random.default_rng(0))).matrix
    for moments in ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 1.0, -1e-8)):
        for dtype in (np.float64, np.float32):
            J = (turned @ np.diag(moments) @ turned.T).astype(dtype)
            x = {"inertia of b1": J, "mass of b1": np.zeros((), dtype), "payload of b1": np.full(10, -0.01, dtype)}
            assert rnea(*[q.astype(dtype)] * 3, parameters={**x, "moments of b2": -np.ones(10, dtype)}).shape == (2,)
    body = model.bodies[0]
    flawed = replace(model, bodies=(replace(body, inertia=FLAWED), *model.bodies[1:]))
    rnea = bough.function("rnea", flawed, parameters=["inertia of b1"])
    np.testing.assert_allclose(rnea(q, q, q), bough.rnea(flawed, q, q, q), rtol=1e-12)
