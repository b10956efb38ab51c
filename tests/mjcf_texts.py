"""MJCF for tests."""

__all__ = ["MACHINE"]

MACHINE = """<mujoco model="machine">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="1 2 -9"/>
  <default>
    <joint armature="0.1" damping="2"/>
    <default class="stiff"><joint stiffness="7" springref="20"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 3 1"/>
    <site name="here" pos="1 0 0"/>
    <body name="pole" pos="0 0 1" euler="30 0 0">
      <geom name="rod" type="cylinder" size="0.1 0.5" rgba="1 0 0 1"/>
      <body name="cart" pos="0.5 0 0" quat="1 1 0 0">
        <joint name="x" type="slide" axis="1 1 0" pos="0 0.2 0" ref="0.3" range="-1 2"/>
        <joint name="turn" type="hinge" axis="0 1 2" pos="0.1 0.2 0.3" ref="40" frictionloss="0.5" class="stiff"/>
        <joint name="tilt" type="hinge" axis="1 0 0" pos="-0.3 0 0.1" ref="-25"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30" contype="0" conaffinity="0"/>
        <body pos="0.2 0 0"><geom name="ball" size="0.1"/></body>
        <body name="hand" pos="0 0.4 0" axisangle="1 1 1 50">
          <joint name="slip" type="slide" axis="0 0 1"/>
          <joint name="wrist" type="ball" pos="0.2 -0.1 0.4" armature="0.3"/>
          <inertial pos="0.1 0 0" mass="2" fullinertia="1 2 1.5 0.1 0.2 0.3"/>
          <site name="palm" pos="0.1 0.2 0.3" euler="10 0 0"/>
          <frame pos="0 0 1"><geom type="capsule" size="0.1" fromto="0 0 0 0 0 2"/></frame>
        </body>
      </body>
    </body>
    <body name="drone" pos="3 2 1" euler="10 20 30">
      <freejoint name="fly"/>
      <geom type="ellipsoid" size="0.3 0.2 0.1" density="500"/>
      <site name="cart" pos="0 0 0.1"/>
    </body>
  </worldbody>
  <equality>
    <connect name="rope" body1="hand" body2="drone" anchor="0.1 0.2 0.3"/>
    <weld body1="drone" body2="hand" anchor="0.3 0 0.2" relpose="0.1 0.2 0.3 1 2 3 4"/>
    <joint name="law" joint1="turn" joint2="tilt" polycoef="0.1 2 0.3 0.4 0.5"/>
    <joint name="still" joint1="x" polycoef="0.25 0 0 0 0"/>
    <connect name="cord" site1="palm" site2="here"/>
    <weld name="off" body1="hand" active="false"/>
  </equality>
  <actuator><motor joint="tilt" gear="3" armature="0.2"/><position joint="turn" kp="50"/></actuator>
  <sensor><jointpos joint="turn"/></sensor>
</mujoco>"""
"""All joint types, about points of their bodies and with references; sites, shapes, constraints, actuators."""
