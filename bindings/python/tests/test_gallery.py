"""The scripts of the gallery run and draw their pictures."""

import runpy
import sys
import warnings
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "gallery"
# Each script, and real data for it.
SCRIPTS = {
    "bearings_across_loads.py": "cwru.csv",
    "choosing_the_source.py": "uestc.csv",
    "model_on_the_device.py": "uestc.csv",
    "office_caltech.py": "matrices/office_caltech_surf",
    "risk_coverage.py": "uestc.csv",
}


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """Runs a script and asserts that it draws a picture, without a warning."""
    matplotlib = pytest.importorskip("matplotlib")
    image = pytest.importorskip("matplotlib.image")
    matplotlib.use("agg")
    monkeypatch.syspath_prepend(GALLERY)

    def run(script, *words):
        monkeypatch.setattr(sys, "argv", [script, str(tmp_path), *map(str, words)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            runpy.run_path(str(GALLERY / script), run_name="__main__")
        picture = image.imread((tmp_path / script).with_suffix(".png"))
        assert picture.shape[0] > 300 and picture.std() > 0.05

    return run


def test_every_script_is_here():
    scripts = {path.name for path in GALLERY.glob("*.py")}
    assert scripts == {*SCRIPTS, "recordings.py"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_draw_made_data(script, draw):
    draw(script)


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_draw_real_data(script, draw, real_data):
    draw(script, real_data / SCRIPTS[script])
