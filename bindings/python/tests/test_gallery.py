"""The scripts of the gallery run and draw their pictures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "gallery"
# Each script, and real data for it. Those that take long on it have none.
SCRIPTS = {
    "bearings_across_loads.py": "cwru.csv",
    "choosing_the_source.py": "uestc.csv",
    "model_on_the_device.py": "uestc.csv",
    "office_caltech.py": None,
    "risk_coverage.py": "uestc.csv",
}


def draw(script, *words):
    """Runs a script and asserts that it draws a picture and says nothing."""
    matplotlib = pytest.importorskip("matplotlib.image")
    out = words[0]
    done = subprocess.run(
        [sys.executable, GALLERY / script, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    picture = matplotlib.imread((out / script).with_suffix(".png"))
    assert picture.shape[0] > 300 and picture.std() > 0.05


def test_every_script_is_here():
    scripts = {path.name for path in GALLERY.glob("*.py")}
    assert scripts == {*SCRIPTS, "recordings.py"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_draw_made_data(script, tmp_path):
    draw(script, tmp_path)


@pytest.mark.parametrize("script", [script for script, manifest in SCRIPTS.items() if manifest])
def test_scripts_draw_real_data(script, tmp_path, real_data):
    draw(script, tmp_path, real_data / SCRIPTS[script])
