"""The examples in docstrings of public names run, and print what they say."""

from __future__ import annotations

import doctest
import inspect

import pytest

from public_names import FUNCTIONS, PUBLIC

EXAMPLES = {
    test.name: test
    for name, thing in PUBLIC.items()
    if inspect.isfunction(thing) or inspect.isclass(thing)
    for test in doctest.DocTestFinder().find(thing, name, module=False, globs={})
    if test.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_in_a_docstring(name: str, request: pytest.FixtureRequest) -> None:
    if name.lower().startswith("simulation"):  # many steps: compiled they are sooner there
        request.getfixturevalue("compiled")
    said: list[str] = []
    doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert not said, "".join(said)


def test_every_public_function_has_an_example() -> None:
    """So that ``help(bough.rnea)`` in a terminal shows one, too."""
    taking = {name for name in PUBLIC if name in FUNCTIONS or name.startswith("contact.")}
    assert taking <= set(EXAMPLES), sorted(taking - set(EXAMPLES))
