"""What a page of the viewer takes to load, and for each picture of a motion: of the server, and in the browser.

    python benchmarks/on_viewer.py [load | poses] [NAME ...]

It needs Debian's chromium and Playwright. Without a graphics card the processor draws, which takes far longer than all
else and is left out: told are the processor time of Python for each picture of a minute, and that of the scripts of the
page to take a picture and to have it drawn, to be held against the 16.7 ms of sixty pictures a second.

`load` tells how long a browser that runs already waits from the opening of a page until it has sliders and readings,
and until the robot is drawn (the first picture with its surfaces is finished), with the processor time that all of the
browser takes for it. `poses` lets a motion play without calls that draw, as a graphics card would spare the processor
them: how many different poses are handed over in a second, and how long the gaps between them are.
"""

from __future__ import annotations

import json
import os
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


HOOKS = """(() => {
  const told = window.told = {at: {}, poses: []}, P = WebGL2RenderingContext.prototype;
  const mark = name => { told.at[name] ??= performance.now() / 1e3; };
  let sent = false, asked = false;
  for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const draw = P[name];
    P[name] = function (...a) {
      if (name.endsWith("Instanced") && a.at(-1) > 0 && !asked) {
        asked = true;  // to read a pixel waits for the picture
        setTimeout(() => {
          this.readPixels(0, 0, 1, 1, this.RGBA, this.UNSIGNED_BYTE, new Uint8Array(4));
          mark("robot");
        });
      }
      if (!window.undrawn) draw.apply(this, a);
    };
  }
  for (const name of ["texSubImage2D", "bufferSubData"]) {
    const send = P[name];
    P[name] = function (...a) { sent = true; send.apply(this, a); };
  }
  const each = () => { if (sent) told.poses.push(performance.now()); sent = false; requestAnimationFrame(each); };
  requestAnimationFrame(each);
  new MutationObserver(() => {
    if (document.querySelector("#bough-readings [data-reading]")) mark("panel");
  }).observe(document, {childList: true, subtree: true});
})();"""
"""Notes when the panel and the robot are seen, and each frame of the browser in which poses were handed over."""

MODELS = {
    "panda": lambda: bough.robots.load("panda"),
    "g1": lambda: bough.robots.load("g1_29dof_rev_1_0"),
    "talos": lambda: bough.robots.load("talos_reduced"),
    "quadruped": lambda: bough.robots.load("quadruped"),
    "tree of 100 bodies": lambda: bough.trees.topologies.side_branch_chain(50),
    "cassie": lambda: bough.robots.load("cassie", ignore="constraints"),
}


def loaded(browser: Any, viewer: Any) -> tuple[float, float, float]:
    """Seconds until there is a panel and until the robot is drawn, and processor time (s) of the browser."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(120_000)
    page.add_init_script(HOOKS)
    began = browser_time()
    page.goto(viewer.url, wait_until="commit")
    page.wait_for_function("window.told?.at.panel && window.told.at.robot", polling=20)
    spent, at = browser_time() - began, page.evaluate("told.at")
    page.close()
    return at["panel"], at["robot"], spent


def browser_time() -> float:
    """Processor time (s) of all processes below this one."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(name)], ticks[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    below = {os.getpid()}
    while more := {k for k, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(ticks[k] for k in below - {os.getpid()}) / os.sysconf("SC_CLK_TCK")


def handed_over(browser: Any, viewer: Any) -> np.ndarray[Any, Any]:
    """Times (ms) of the frames of a page in which it handed over other poses than before, for `WATCHED` seconds."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(120_000)
    page.add_init_script(HOOKS + "window.undrawn = true;")
    page.goto(viewer.url)
    page.wait_for_selector("[role=tab]")
    time.sleep(4.0)
    viewer.play()
    time.sleep(1.0)
    page.evaluate("told.poses.length = 0")
    time.sleep(WATCHED)
    times = page.evaluate("told.poses")
    viewer.pause()
    page.close()
    return np.array(times)


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


def print_loading(wanted: list[str]) -> None:
    """A line for each robot: the second of two openings of its page."""
    print(f"{'seconds':24}{'panel':>10}{'robot':>10}{'processor':>12}")
    with chromium() as browser:
        for name, make in MODELS.items():
            if not wanted or name in wanted:
                with bough.view(make(), browser=False, port=0) as viewer:
                    panel, robot, spent = [loaded(browser, viewer) for _ in range(2)][1]
                print(f"{name:24}{panel:10.2f}{robot:10.2f}{spent:12.2f}", flush=True)


def print_poses(wanted: list[str]) -> None:
    """A line for each motion, nothing being drawn."""
    print(f"{'nothing drawn':24}{'poses a second':>16}{'gap, median':>14}{'99 %':>8}{'longest (ms)':>14}")
    with chromium() as browser:
        for name, make in CASES.items():
            if not wanted or name in wanted:
                with make().show(browser=False, port=0) as viewer:
                    viewer.pause()
                    times = handed_over(browser, viewer)
                gaps = np.diff(times)
                told = f"{np.median(gaps):14.1f}{np.quantile(gaps, 0.99):8.1f}{gaps.max():14.1f}"
                print(f"{name:24}{1e3 * len(gaps) / (times[-1] - times[0]):16.1f}{told}", flush=True)


def main() -> None:
    """Print a line for each motion."""
    wanted = sys.argv[1:]
    if wanted[:1] in (["load"], ["poses"]):
        (print_loading if wanted[0] == "load" else print_poses)(wanted[1:])
        return
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
