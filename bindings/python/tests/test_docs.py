"""Every example of the documentation runs."""

import doctest
import re
from importlib import import_module

import pytest

import rebearing
from conftest import ROOT

PAGES = [ROOT / page for page in ("README.md", "docs/python.md", "bindings/python/README.md")]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_one_after_the_other(
    page, machines, tmp_path, monkeypatch, capsys
):
    """A page is a program. It finds the simulated machines in its folder."""
    (tmp_path / "machines").symlink_to(machines.parent)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    found = blocks(page)
    assert found
    for block in found:
        exec(compile(block, str(page), "exec"), names)
        # A comment at the end of a print says what it prints.
        wanted = re.findall(r"^print\(.*\) *# (.*)", block, re.M)
        assert capsys.readouterr().out.split("\n")[: len(wanted)] == wanted


@pytest.mark.parametrize("module", sorted(set(rebearing._MODULES.values())))
def test_the_examples_of_a_module_run(module):
    failed, _ = doctest.testmod(import_module(f"rebearing.{module}"))
    assert failed == 0
