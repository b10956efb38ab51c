"""PyTorch: functions of bough between layers of a network, with gradients by states and masses."""

import sys

import numpy as np

import bough

try:
    import torch
except ImportError:
    print("this example wants PyTorch: pip install bough[torch]")
    sys.exit()

torch.manual_seed(0)
arm = bough.robots.load("arm")

# The functions take tensors and give tensors; memory is shared, and gradients come along.
q = torch.zeros(arm.nq, dtype=torch.float64, requires_grad=True)
energy = bough.potential_energy(arm, q)
energy.backward()
assert np.allclose(q.grad, bough.gravity_forces(arm, np.zeros(arm.nq)))

# Transformations of functions: jacobians of many states at once.
states = torch.tensor(bough.random(arm, 0, size=8))
jacobians = torch.func.vmap(torch.func.jacrev(lambda q: bough.center_of_mass(arm, q)))(states)
assert np.allclose(jacobians, bough.center_of_mass_jacobian(arm, states.numpy()))

# Identification: the mass of the hand from joint forces, by descent along gradients through inverse dynamics.
mass = f"mass of {arm.body_names[-1]}"
rnea = bough.function("rnea", arm, parameters=[mass])
v, a = torch.randn(2, 8, arm.nv, dtype=torch.float64)
measured = rnea(states, v, a, parameters={mass: torch.tensor(1.7, dtype=torch.float64)})
guess = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS([guess], max_iter=20, tolerance_grad=1e-12, tolerance_change=1e-14)


def loss() -> torch.Tensor:
    optimizer.zero_grad()
    error = ((rnea(states, v, a, parameters={mass: guess}) - measured) ** 2).sum()
    error.backward()
    return error


optimizer.step(loss)
print(f"the hand was found to weigh {guess.item():.6f} kg, and weighs 1.7 kg")
assert abs(guess.item() - 1.7) < 1e-6
