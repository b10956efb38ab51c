"""Both ways to factorise M with contacts and rows give the same accelerations."""

from __future__ import annotations

import numpy as np
import pytest

import bough
from bough.algorithms.crba import crba
from bough.algorithms.soft import few_between
from bough.algorithms.soft.contacts import Contacts
from bough.algorithms.soft.layout import layout_of
from bough.algorithms.soft.step import soft_problem
from bough.algorithms.soft.stiffened import PackedMatrix, articulated_bodies
from bough.algorithms.soft.world import world_tree
from bough.kernel.functions import mechanism
from bough.simulation.soft import soft_scene

BALLS = """
<mujoco>
  <option cone="{cone}"/>
  <worldbody>
    <body><freejoint/><geom size="0.1" condim="1"/></body>
    <body pos="0.19 0 0"><freejoint/><geom size="0.1" condim="1"/></body>
    <body pos="0.38 0 0"><freejoint/><geom size="0.1" condim="3"/></body>
    <body pos="0.28 0.16 0"><freejoint/><geom size="0.1" condim="3"/></body>
  </worldbody>
</mujoco>"""
"""Four balls, four of whose six pairs touch."""


@pytest.mark.parametrize("floating", [False, True])
def test_articulated_bodies_solve_as_the_packed_matrix_does(floating: bool, rng: np.random.Generator) -> None:
    """A chain with several velocities per joint, some of whose bodies lie on the floor, and others without mass."""
    robot = bough.robots.load("humanoid" if floating else "arm")
    scene = bough.Scene(robot, self_collision=False).floor()
    m, numbers = mechanism(robot), soft_scene(scene, "euler", 1e-8, 100)
    q = (
        bough.simulation.on_the_floor(scene, bough.random(robot, rng), gap=-0.02)
        if floating
        else bough.random(robot, rng)
    )
    v = rng.normal(size=robot.nv).tolist()
    world, tree = world_tree(m, q.tolist()), m.coupling.dof_tree
    contacts = Contacts(layout_of(numbers), world, v, 0.002)
    assert (contacts.stiffness(between=False) > 0.0) == floating
    for k in range(len(contacts.memory)):
        contacts.memory[k].x[:] = rng.normal(size=len(contacts.memory[k].x)).tolist()
    more = [(k, float(x)) for k, x in enumerate(rng.uniform(0, 1, robot.nv))]
    b = rng.normal(size=robot.nv).tolist()
    packed = PackedMatrix(tree, crba(m, q.tolist()), world).factor(contacts, more)(b)
    articulated = articulated_bodies(m, world, contacts, more[::2]).factor(contacts, more[1::2])(b)
    assert np.allclose(articulated, packed, rtol=1e-9, atol=1e-9 * np.abs(packed).max())


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_between_bodies_are_solved_with_however_many_are_taken(
    cone: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conjugate gradients take those that are left: none, some, and all, with friction and without."""
    heap = bough.load(BALLS.format(cone=cone))
    m, numbers = mechanism(heap), soft_scene(bough.Scene(heap), "euler", 1e-8, 100)
    q, (a, b) = list(heap.simulation.reference), rng.normal(size=(2, heap.nv)).tolist()
    solutions = []
    for most in (0, 1, 3, 8):
        monkeypatch.setattr(few_between, "MOST_TAKEN", most)
        problem = soft_problem(m, numbers, {}, q, [0.0] * heap.nv, 0.002)
        problem.begin(a)
        assert sum(x > 0.0 for memory in problem.contacts.memory for x in memory.D) == 4
        pressing = sum(x < 0.0 for memory in problem.contacts.memory for x in memory.x)
        assert pressing > 1
        solutions.append(problem.stiff(a)(b))
    for found in solutions[1:]:
        assert np.allclose(found, solutions[0], rtol=1e-8, atol=1e-8 * np.abs(solutions[0]).max())
