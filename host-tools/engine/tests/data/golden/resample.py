"""Golden numbers for resampling, from scipy.

    pip install scipy==1.17.1 numpy==2.4.6
    python resample.py             # writes resample.json beside this file

The filter is designed again here by scipy.signal.firwin, from the four numbers that define ours:
pass-band, shape of the Kaiser window, half length, gain.
"""

import json
import pathlib

import numpy as np
import scipy
from scipy.signal import firwin, resample_poly

PASS, BETA, HALF = 0.95, 10.612, 136
CASES = [(25600, 12000), (20000, 12000), (48000, 16000), (44100, 25600), (12000, 11999)]
FRAMES = 2000


def signal(frames):
    """Noise on an offset, from a generator that needs whole numbers only; exact in f32."""
    state, values = 1, []
    for _ in range(frames):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((state >> 48) / 256.0 - 100.0)
    return np.array(values)


def case(from_hz, to_hz):
    divisor = np.gcd(from_hz, to_hz)
    up, down = int(to_hz // divisor), int(from_hz // divisor)
    taps = firwin(2 * HALF * down + 1, (1 + PASS) / 2 / down, window=("kaiser", BETA))
    out = resample_poly(signal(FRAMES), up, down, window=taps, padtype="edge")
    step = len(out) // 48
    return {
        "from_hz": from_hz,
        "to_hz": to_hz,
        "frames": FRAMES,
        "output_frames": len(out),
        "step": step,
        "outputs": [float(x) for x in out[::step]],
    }


versions = {"numpy": np.__version__, "scipy": scipy.__version__}
cases = [case(*rates) for rates in CASES]
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"versions": versions, "cases": cases}, indent=1) + "\n")
