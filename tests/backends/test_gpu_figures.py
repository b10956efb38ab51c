"""The method that a GPU takes, and figures of how fast it is; where there is none, one is made of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bough
from bough.cli import main
from bough.cost.gpu import KernelSpeed, Peak, speed_table
from bough.kernel.choice import cheaper_method
from bough.kernel.device_choice import device_costs, device_method
from emulated_gpu import REAL, needs_some_gpu, some_gpu

pytestmark = [needs_some_gpu, pytest.mark.usefixtures("compiled")]


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    """CuPy, or what stands for it."""
    with some_gpu() as found:
        yield found


def test_the_method_knows_the_device(cupy: Any) -> None:
    """A chain of nine takes articulated bodies on a CPU, where that runs faster than by its operations."""
    model = bough.trees.topologies.chain(9)
    assert device_method(model) != cheaper_method(model)
    function = bough.function("forward_dynamics", model)
    assert function.on_device().name != function.name
    given = np.random.default_rng(0).normal(size=(3, 5, 9))
    got = bough.forward_dynamics(model, *map(cupy.asarray, given))
    by_name = bough.forward_dynamics(model, *map(cupy.asarray, given), method=device_method(model))
    np.testing.assert_array_equal(got.get(), by_name.get())
    expected = bough.forward_dynamics(model, *given)
    np.testing.assert_allclose(got.get(), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    text = str(bough.explain(model, device="cuda"))
    assert f"{device_method(model)} is taken" in text


def test_values_without_registers_count_on_a_gpu() -> None:
    model = bough.robots.load("humanoid")
    costs = device_costs(model)
    assert device_method(model) == "aba_at_rest"
    assert costs["aba"].alive > costs["aba_at_rest"].alive > 255  # type: ignore[operator]
    assert costs["aba"].double / costs["aba"].operations > costs["aba_at_rest"].double / costs["aba_at_rest"].operations
    large = bough.trees.topologies.chain(100)
    assert device_costs(large) == {}
    assert device_method(large) == cheaper_method(large)
    with pytest.raises(bough.errors.UnknownNameError, match="no device is called 'gpu'"):
        bough.explain(model, device="gpu")  # type: ignore[arg-type]


# ---- figures ---------------------------------------------------------------------------------------------------------


def test_figures_stand_beside_what_the_gpu_can_do() -> None:
    peak = Peak("a GPU", {"float32": 50e12, "float64": 25e12}, 4e12)
    figure = KernelSpeed("rnea", "float32", "rows", 1_000_000, 1e-4, 1000, 28, 72, 16, 1e-7, 0.5, 0.01)
    table = speed_table(peak, [figure])
    row = dict(zip((*table.columns[:5], "share", *table.columns[6:]), table.rows[0], strict=True))
    assert row["M states/s"] == pytest.approx(10_000)
    assert row["Tflop/s"] == pytest.approx(10.0)
    assert row["share"] == "20%"
    assert row["TB/s"] == pytest.approx(1.12)
    assert row["of peak"] == "28%"
    assert (row["registers"], row["spilled bytes"]) == (72, 16)
    assert "50 Tflop/s in float32, 25 Tflop/s in float64" in table.notes[0]


def test_bench_measures_the_gpu(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if not REAL:
        monkeypatch.setattr("bough.cost.gpu.ALGORITHMS", ("rnea", "crba"))
    assert main(["bench", "tree:chain:2", "--device", "cuda", "--batch", "70", "--rounds", "1"]) == 0
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines() if " float32  " in line or " float64  " in line]
    assert {row[0].rstrip(",") for row in rows} >= {"rnea", "crba"}
    assert {(row[1], row[2]) for row in rows if row[0] == "rnea"} == {
        (dtype, layout) for dtype in ("float32", "float64") for layout in ("rows", "components")
    }
    assert "Peak, measured" in text
    assert main(["bench", "tree:chain:2", "--device", "cuda", "--compare"]) == 2
    assert "--compare is given with --device cuda" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [({"states": 0}, "states is 0"), ({"rounds": 1.5}, "rounds is 1.5"), ({"states": None}, "states")],
)
def test_figures_of_nothing_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(bough.errors.ShapeError, match=told):
        bough.cuda.speeds(bough.trees.topologies.chain(2), **given)
    with pytest.raises(bough.errors.ModelError, match=r"expected a bough\.Model"):
        bough.cuda.speeds(None, **given)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ModelError, match="'stone' cannot move"):
        bough.cuda.speeds(bough.Builder("stone").build())
