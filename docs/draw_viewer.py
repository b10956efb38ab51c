"""Draws docs/viewer.png: the page of the viewer, with Debian's chromium (and Playwright), without a screen."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import bough
from bough.cli.demo import fall

SIZE = {"width": 1180, "height": 720}
MOMENT = 0.2  # s of the fall
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main() -> None:
    """Write the picture beside this file."""
    model = bough.robots.load("humanoid")
    trajectory, scene, _ = fall(model)
    with sync_playwright() as playwright, trajectory.show(scene, browser=False) as viewer:
        viewer.pause()
        viewer.seek(MOMENT)
        viewer.choose("left_hand")
        viewer.show("joint axes", "centre of mass")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        page.goto(viewer.url)
        page.add_style_tag(content="[class*=Notification] { display: none }")
        page.get_by_role("tab", name="Model").click()
        page.get_by_text("is taken").first.wait_for()
        page.locator("#bough-sparsity").scroll_into_view_if_needed()
        page.wait_for_timeout(3000)
        page.screenshot(path=Path(__file__).with_name("viewer.png"))
        browser.close()


if __name__ == "__main__":
    main()
