"""Robots from files: load a URDF, choose what moves, save it, and list the problems of a faulty file."""

from pathlib import Path

import numpy as np

import bough

LEG = """
<robot name="leg">
  <link name="hip">
    <inertial><mass value="4"/><inertia ixx="0.04" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>
    <collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision>
  </link>
  <link name="thigh">
    <inertial><origin xyz="0 0 -0.15"/><mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.003"/></inertial>
  </link>
  <link name="shin">
    <inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.001"/></inertial>
  </link>
  <link name="sole"/>
  <joint name="swing" type="revolute"><parent link="hip"/><child link="thigh"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="80" velocity="10"/></joint>
  <joint name="knee" type="revolute"><parent link="thigh"/><child link="shin"/><origin xyz="0 0 -0.3"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="2" effort="80" velocity="10"/></joint>
  <joint name="tip" type="fixed"><parent link="shin"/><child link="sole"/><origin xyz="0 0 -0.3"/></joint>
</robot>
"""

# A path, a stream or the text itself. Links on fixed joints stay frames; the base is fixed, or floats.
hung, free = bough.load(LEG), bough.load(LEG, floating_base=True)
print(hung, free, f"{free.mass:g} kg", free.limits("upper"))
assert np.allclose(bough.placements(hung, [0.0, np.pi / 2], "sole")[:3, 3], (-0.3, 0, -0.3))

# Standing on the sole: the same robot with another root. Joints keep their names, signs and meaning.
standing = bough.load(LEG, root="sole")
assert standing.joint_names == ("knee", "swing")  # depth first, and now from below
hip = bough.placements(standing, [0.8, -0.4], "hip")[:3, 3]
print("hip at", hip.round(3))
assert np.isclose(np.linalg.norm(hip), 0.6 * np.cos(0.4))

# A joint that is held is no part of the model.
stiff = bough.load(LEG, lock={"knee": 0.8})
assert stiff.joint_names == ("swing",)

# Out again, whole or not at all; what a format cannot express is named.
bough.save(free, "leg.urdf")
again = bough.load("leg.urdf")
q, v = bough.neutral(free), np.ones(free.nv)
assert np.allclose(bough.bias_forces(again, q, v), bough.bias_forces(free, q, v))
Path("leg.urdf").unlink()

# What is wrong, and where.
told = ""
try:
    bough.load(LEG.replace('<child link="shin"/>', '<child link="chin"/>'))
except bough.errors.LoadError as error:
    told = str(error)
print(told)
assert told.startswith("line 18: joint 'knee': the child does not exist")
