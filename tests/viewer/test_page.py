"""The page in a real browser: what it says is what bough computes, and what people do to it moves the mechanism."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bough
from bough.viewer.panel import readings
from bough.viewer.viewer import Viewer
from browser import needs_chromium, opened, tab, until
from mechanisms import four_bar

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as found:
        yield found


def swinging_arm() -> bough.Trajectory:
    """The arm of bough, swinging for two seconds."""
    arm = bough.robots.load("arm")
    time = np.linspace(0.0, 2.0, 41)
    q = np.sin(np.outer(time, [0.5, 0.8, 1.1, 0.7, 0.9, 1.3]))
    v = np.gradient(q, time, axis=0)
    return bough.Trajectory(arm, time, q, v)


@pytest.fixture(scope="module")
def viewer(browser: Any) -> Iterator[Viewer]:
    with swinging_arm().show(browser=False) as found:
        found.pause()
        found.seek(0.0)
        yield found


@pytest.fixture(scope="module")
def page(viewer: Viewer, browser: Any) -> Iterator[Any]:
    assert not viewer._stage.visible  # nobody looks yet
    found = tab(browser, viewer)
    until(lambda: viewer._stage.visible, "shapes, as soon as there is a panel")
    yield found
    found.close()


def told(page: Any) -> dict[str, list[float]]:
    """The readings of the page, as numbers."""
    cells = page.eval_on_selector_all("[data-reading]", "all => all.map(x => [x.dataset.reading, x.textContent])")
    return {name: [float(x) for x in text.split()] for name, text in cells}


def says_what_is_computed(page: Any, viewer: Viewer, v: Any, time: float | None) -> bool:
    """Whether the page tells the readings of the state that the viewer shows, to the digits it has."""
    expected = readings(viewer.model, viewer.q, np.asarray(v, float), viewer.frame, time)
    found = told(page)
    return found.keys() == expected.keys() and all(
        np.allclose(found[name], values, rtol=1e-5, atol=1e-6) for name, (values, _) in expected.items()
    )


def picture(page: Any) -> bytes:
    """What is to be seen left of the panel."""
    return page.screenshot(clip={"x": 60, "y": 0, "width": 300, "height": 240})


def enter(page: Any, label: str, value: float) -> None:
    """Type a number beside a slider."""
    row = f"xpath=//label[text()='{label}']/ancestor::div[contains(@class, 'Flex-root')][1]"
    box = page.locator(f"{row}//input[@inputmode='decimal']")
    box.fill(str(value))
    box.press("Enter")


def test_the_page_says_what_bough_computes(page: Any, viewer: Viewer) -> None:
    assert viewer.url.startswith("http://localhost:")
    viewer.seek(0.0)
    for frame in ("wrist_roll_link", "tool"):  # that of a body, and one on it
        viewer.choose(frame)
        until(lambda: says_what_is_computed(page, viewer, viewer._v[0], 0.0), f"readings of {frame}")


def test_a_slider_moves_the_robot(page: Any, viewer: Viewer) -> None:
    page.get_by_role("tab", name="Pose").click()
    before = picture(page)
    enter(page, "elbow (rad)", 1.25)
    until(lambda: viewer.q[2] == 1.25, "the value of the slider")
    until(lambda: says_what_is_computed(page, viewer, np.zeros(6), None), "readings of the new pose")
    until(lambda: picture(page) != before, "another picture")


def test_scrubbing_shows_another_pose(page: Any, viewer: Viewer) -> None:
    trajectory = swinging_arm()
    page.get_by_role("tab", name="Motion").click()
    enter(page, "time (s)", 1.5)
    expected = trajectory.at(1.5)
    until(lambda: np.allclose(viewer.q, expected.q, atol=1e-12), "the pose at 1.5 s")
    until(lambda: says_what_is_computed(page, viewer, expected.v, 1.5), "readings at 1.5 s")
    page.get_by_role("button", name="Play").click()
    until(lambda: viewer._time is not None and viewer._time != 1.5, "it plays")
    page.get_by_role("button", name="Pause").click()


def test_overlays_appear(page: Any, viewer: Viewer) -> None:
    viewer.seek(1.5)
    viewer.choose("tool")
    page.get_by_role("tab", name="Show").click()
    before = picture(page)
    for name in ("frames", "joint axes", "centre of mass", "inertia ellipsoids", "velocity", "collision shapes"):
        page.get_by_label(name, exact=True).check()
        until(lambda name=name: viewer.overlays[name], name)
    until(lambda: picture(page) != before, "overlays in the picture")
    scene = viewer.page.server.scene
    ball = scene.get_handle_by_name("/centre_of_mass")
    assert ball.position == pytest.approx(bough.center_of_mass(viewer.model, viewer.q), abs=1e-6)
    speed = bough.velocities(viewer.model, viewer.q, viewer._v[0], viewer.frame, "LOCAL_WORLD_ALIGNED")[:3]
    arrow = scene.get_handle_by_name("/velocity").points[0]
    assert arrow[1] - arrow[0] == pytest.approx(0.2 * speed, abs=1e-5)
    frames = scene.get_handle_by_name("/frames").batched_positions
    assert frames[-1] == pytest.approx(bough.placements(viewer.model, viewer.q, viewer.frame)[:3, 3], abs=1e-6)
    axes = scene.get_handle_by_name("/joint_axes").points
    assert len(axes) == 6  # the first one is vertical, through the base
    assert axes[0, 1] - axes[0, 0] == pytest.approx([0, 0, np.linalg.norm(axes[0, 1] - axes[0, 0])], abs=1e-6)
    viewer.hide(*viewer.overlays)
    until(lambda: not page.get_by_label("frames", exact=True).is_checked(), "switched off")
    viewer.show("shapes")


def test_a_notebook_shows_the_page_and_keeps_one_for_later(browser: Any) -> None:
    arm = bough.robots.load("arm")
    page = browser.new_page(viewport={"width": 400, "height": 200})
    viewer = bough.view(arm, browser=False)
    page.set_default_timeout(90_000)
    page.set_content(viewer._repr_html_())
    page.wait_for_selector(f"iframe[src='{viewer.url}']")
    viewer.close()
    page.set_content(viewer._repr_html_())  # opened again, when the program has ended
    page.wait_for_selector("iframe[srcdoc]")
    page.frame_locator("iframe").get_by_text("shoulder_pan_link: ").wait_for()
    page.close()


def test_tree_matrices_and_costs_are_told(page: Any, viewer: Viewer) -> None:
    page.get_by_role("tab", name="Model").click()
    viewer.choose(viewer.model.body_names[2])
    until(lambda: page.locator("#bough-tree .lit").count() == 3, "the path of the third body")
    widths = "s => [...s.querySelectorAll('[fill=\"#e8590c\"]')].map(r => +r.getAttribute('width'))"
    lit = [sum(svg.evaluate(widths)) for svg in page.locator("#bough-sparsity svg").all()]
    assert lit == [9, 6]  # of H, and of its lower triangle
    until(lambda: "is taken" in page.inner_text("#bough-costs"), "the method and why")
    taken = str(bough.explain(viewer.model)).partition(" is taken: ")[0].split()[-1]
    assert f"{taken} is taken: " in page.inner_text("#bough-costs")


def test_loops_stay_closed_and_a_closed_tab_harms_nothing(browser: Any) -> None:
    model = four_bar()
    with bough.view(model, browser=False) as viewer:
        page = tab(browser, viewer)
        enter(page, "crank (rad)", 0.9)
        until(lambda: viewer.q[model.q_slice("crank")][0] == 0.9, "the crank")
        assert np.abs(bough.loops.errors(model, viewer.q)).max() < 1e-9
        page.close()
        viewer.update(np.zeros(3))
        assert not viewer.q.any()


def test_a_motion_in_one_file_plays_without_a_network(browser: Any, tmp_path: Any) -> None:
    trajectory = swinging_arm()
    model, file = trajectory.model, tmp_path / "run.html"
    named = dataclasses.replace(model, name="</script><script>window.harm = 1</script>")  # a name is only a name
    trajectory = bough.Trajectory(named, trajectory.time, trajectory.q, trajectory.v)
    trajectory.save(file, bough.Scene(named).floor().box((0.3, 0.3, 0.3), at=(1, 0, 0.15)))
    context = browser.new_context(viewport={"width": 400, "height": 240}, offline=True)
    page = context.new_page()
    page.set_default_timeout(90_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_function("window.player")
    assert (page.title(), page.evaluate("window.harm")) == (named.name, None)
    assert not [url for url in asked if not url.startswith(("file:", "blob:", "data:"))]
    page.wait_for_function("window.player.state.time > 0.2")  # it plays
    page.evaluate("player.pause()")
    shown, bar = (page.locator(name).bounding_box() for name in ("#canvas", "#bar"))
    assert shown["y"] + shown["height"] <= bar["y"]  # nothing is behind the bar
    assert bar["x"] + bar["width"] <= 400
    first = page.screenshot()
    for time in (0.3, 1.025, 2.0):
        page.locator("#time").evaluate(f"x => {{ x.value = {time}; x.dispatchEvent(new Event('input')) }}")
        assert f"{time:.2f} s" in page.inner_text("#clock")
        placed = bough.placements(model, trajectory.at(time).q)
        for k in range(model.nbodies):
            seen = np.array(page.evaluate(f"player.pose(0, {k + 1})")).reshape(4, 4).T
            # numbers of 16 bits, and straight lines between samples
            assert seen == pytest.approx(placed[k], abs=2e-3 if time == 1.025 else 1e-4)
    assert page.screenshot() != first
    context.close()


def test_a_body_is_pulled_with_the_mouse(browser: Any) -> None:
    b = bough.Builder("ball", gravity=(0, 0, 0))
    b.add("ball", bough.joints.Free(), inertia=bough.Inertia.sphere(0.3, mass=2.0))
    b.geometry("ball", "sphere", 0.3)
    live = bough.Simulation(b.build(), dt=0.01).view([0, 0, 0, 0, 0, 0, 1], browser=False)
    live.pause()
    live.advance(1.0)
    with live.viewer as viewer:
        page = tab(browser, viewer)
        until(lambda: live.time == 0.0, "it begins anew for whoever comes to see it")
        live.start()
        box = page.locator("canvas").first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert not live.state.v.any()

        def pulled() -> bool:
            """The ball is in the middle of the picture; it may not have come yet."""
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x - 40, y, steps=4)
            moved = float(np.abs(live.state.q[:3]).max()) > 0.02
            if not moved:
                page.mouse.up()
            return moved

        until(pulled, "the ball moves")
        page.mouse.up()
        until(lambda: live._grip is None, "it is let go")
        page.close()
