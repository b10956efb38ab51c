"""What a page of the viewer takes for each picture of a motion: of the server, and of the scripts in the browser.

    python benchmarks/on_viewer.py [MOTION ...]

It needs Debian's chromium and Playwright. Without a graphics card the processor draws, which takes far longer than all
else and is left out: told are the processor time of Python for each picture of a minute, and that of the scripts of the
page to take a picture and to have it drawn, to be held against the 16.7 ms of sixty pictures a second.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import bough

RATE, DURATION = 60, 60.0
WATCHED = 10.0  # seconds of the motion for which the page is looked at
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SCRIPTS = {"FireAnimationFrame", "FunctionCall", "EventDispatch", "TimerFire", "RunMicrotasks", "v8.run"}


def motion(model: bough.Model, states: int = 1) -> bough.Trajectory:
    """A minute in which every joint swings."""
    t = np.arange(0.0, DURATION + 0.5 / RATE, 1.0 / RATE)
    v = 0.4 * np.cos(np.outer(t, 1.0 + 0.1 * np.arange(model.nv) % 2.0))
    q = bough.integrate(model, bough.neutral(model), np.sin(np.outer(t, np.linspace(0.5, 2.0, model.nv))) * 0.4)
    if states > 1:
        q, v = np.repeat(q[:, None], states, axis=1), np.repeat(v[:, None], states, axis=1)
    return bough.Trajectory(model, t, q, v)


CASES = {
    "panda": lambda: motion(bough.robots.load("panda")),
    "g1": lambda: motion(bough.robots.load("g1_29dof_rev_1_0")),
    "talos": lambda: motion(bough.robots.load("talos_reduced")),
    "quadruped, 64 states": lambda: motion(bough.robots.load("quadruped"), 64),
    "1000 bodies": lambda: motion(bough.trees.topologies.side_branch_chain(500)),
}


def served(viewer: Any, trajectory: bough.Trajectory) -> np.ndarray[Any, Any]:
    """Processor time (ms) of Python for each picture of the whole motion."""
    spent = []
    for t in trajectory.time:
        began = time.thread_time()
        viewer.seek(float(t))
        spent.append(1e3 * (time.thread_time() - began))
    return np.array(spent)


def scripted(browser: Any, viewer: Any) -> tuple[float, float, float, float]:
    """Processor time (ms) of scripts for a picture that is drawn and for one that is sent, and how many in a second.

    A browser that draws slowly takes several pictures at a time; that of a motion that stands has only to draw.
    """
    page = browser.new_page(viewport={"width": 480, "height": 200})
    page.set_default_timeout(120_000)
    page.goto(viewer.url)
    page.wait_for_selector("[role=tab]")
    time.sleep(3.0)
    still, drawn = traced(browser, page)
    viewer.play()
    sent = count_pictures(viewer)
    moving, drawn_moving = traced(browser, page)
    pictures = sent()
    viewer.pause()
    page.close()
    drawing = still / max(drawn, 1)
    return drawing, (moving - drawing * drawn_moving) / pictures, pictures / WATCHED, drawn_moving / WATCHED


def traced(browser: Any, page: Any) -> tuple[float, int]:
    """Processor time (ms) of scripts in the main thread of a page for `WATCHED` seconds, and pictures that it drew."""
    browser.start_tracing(page=page, categories=["devtools.timeline", "toplevel", "v8"])
    page.wait_for_timeout(1e3 * WATCHED)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    main = {(e["pid"], e["tid"]) for e in events if e["name"] == "FireAnimationFrame"}
    outer = outermost(
        [e for e in events if (e["pid"], e["tid"]) in main and e["name"] in SCRIPTS and e.get("ph") == "X"]
    )
    spent = sum(1e-3 * e.get("tdur", e["dur"]) for e in outer)
    return spent, sum(e["name"] == "FireAnimationFrame" for e in outer)


def outermost(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are not within another one."""
    kept: list[dict[str, Any]] = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        if not kept or e["ts"] >= kept[-1]["ts"] + kept[-1]["dur"]:
            kept.append(e)
    return kept


def count_pictures(viewer: Any) -> Any:
    """What tells how many pictures the viewer has made from now on."""
    made, redraw = [0], viewer.redraw

    def counted(held: str = "") -> None:
        made[0] += 1
        redraw(held)

    viewer.redraw = counted
    return lambda: made[0]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield found
        found.close()


def main() -> None:
    """Print a line for each motion."""
    wanted = sys.argv[1:]
    print(f"{'':24}{'server':>30}{'scripts of the page':>24}{'a second':>18}")
    print(f"{'ms a picture':24}{'median':>10}{'99 %':>10}{'most':>10}{'drawn':>12}{'sent':>12}{'sent':>9}{'drawn':>9}")
    with chromium() as browser:
        for name, make in CASES.items():
            if wanted and name not in wanted:
                continue
            trajectory = make()
            with trajectory.show(browser=False, port=0) as viewer:
                viewer.pause()
                server = served(viewer, trajectory)
                drawing, taking, sent, drawn = scripted(browser, viewer)
            told = "".join(f"{x:10.2f}" for x in (np.median(server), np.quantile(server, 0.99), server.max()))
            print(f"{name:24}{told}{drawing:12.2f}{taking:12.2f}{sent:9.1f}{drawn:9.1f}", flush=True)


if __name__ == "__main__":
    main()
