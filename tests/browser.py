"""Debian's chromium, driven by Playwright: for tests of pages as people see them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium")


@contextmanager
def opened() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def tab(browser: Any, viewer: Any, width: int = 700, height: int = 240) -> Any:
    """A small tab with the page of a viewer, as soon as it tells something; without what is slow to draw."""
    viewer.hide("shadows")
    viewer.page.server.scene.remove_by_name("/ground")
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(90_000)
    page.goto(viewer.url)
    page.add_style_tag(content="[class*=Notification] { display: none }")  # that there is no graphics card
    page.wait_for_selector("#bough-readings")
    return page


def until(holds: Callable[[], bool], what: str, patience: float = 60.0) -> None:
    """Wait until something holds; patience (s) is for machines that are slow."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)
