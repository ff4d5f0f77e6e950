"""The compiled module. Nothing of it is public but RebearingError."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION: str

_Matrix = NDArray[np.float32] | NDArray[np.float64]
_Floats = NDArray[np.float64]
_Mixture = tuple[_Floats, _Floats, _Floats, str]
_Progress = Callable[[str, int, int], object] | None
_Classifier = tuple[_Mixture, _Floats] | tuple[_Floats, _Floats]

class RebearingError(ValueError): ...

def command(words: Sequence[str]) -> int: ...
def table(table: Any) -> tuple[_Matrix, list[str]]: ...
def mixture_fit(
    x: _Matrix,
    *,
    components: int,
    covariance_type: str,
    tol: float,
    max_iter: int,
    reg_covar: float,
    n_init: int,
    seed: int,
    start: str,
    means_init: _Floats | None,
    mixture_init: _Mixture | None,
    sample_weight: _Floats | None,
    progress: _Progress,
) -> tuple[_Mixture, float, int, bool]: ...
def mixture_evaluate(mixture: _Mixture, x: _Matrix, what: str) -> _Floats: ...
def solve_plan(
    cost: _Floats,
    a: _Floats,
    b: _Floats,
    *,
    reg: float,
    reg_m: Sequence[float],
    tol: float,
    max_iter: int | None,
    progress: _Progress,
) -> tuple[_Floats, tuple[float, float, float, int], tuple[_Floats, _Floats]]: ...
def plan_between(
    source: _Mixture, target: _Mixture, reg: float, reg_m: float
) -> tuple[_Floats, float]: ...
def map_weight(
    x: _Matrix, source: _Mixture, target: _Mixture, plan: _Floats, threshold: float
) -> tuple[_Floats, _Floats, NDArray[np.uintp]]: ...
def map_mean(x: _Matrix, source: _Mixture, target: _Mixture, plan: _Floats) -> _Floats: ...
def map_random(
    x: _Matrix, source: _Mixture, target: _Mixture, plan: _Floats, seed: int
) -> _Floats: ...
def method_names() -> list[str]: ...
def method_fit(
    method: str,
    source: _Matrix,
    labels: NDArray[np.int64] | list[str],
    classes: int,
    target: _Matrix,
    settings: dict[str, Any],
    progress: _Progress,
) -> dict[str, Any]: ...
def method_predict(
    classifier: _Classifier, scaling: tuple[list[float], list[float]] | None, x: _Matrix
) -> _Floats: ...
def adapt_features(
    library: Library,
    name: str,
    x: NDArray[np.float32],
    recording: list[int],
    stride: int,
    settings: dict[str, Any],
    progress: _Progress,
) -> dict[str, Any]: ...
def adapt_manifest(
    library: Library,
    manifest: str | PathLike[str],
    domain: str,
    settings: dict[str, Any],
    progress: _Progress,
) -> dict[str, Any]: ...
def adapt_recordings(
    library: Library,
    name: str,
    rate: float,
    recordings: list[NDArray[np.float32]],
    rpm: list[float] | None,
    unit: str | None,
    settings: dict[str, Any],
    progress: _Progress,
) -> dict[str, Any]: ...
def label_features(model: bytes, x: NDArray[np.float32]) -> tuple[list[int], _Floats]: ...

class FrontEnd:
    window_len: int
    dims: int
    rate: float
    axes: int
    hop: int
    def __init__(
        self,
        rate: float,
        axes: int,
        fft_len: int,
        hop: int,
        segments: int,
        bands: str,
        blocks: str,
    ) -> None: ...
    def names(self) -> list[str]: ...
    def windows(
        self,
        recordings: list[NDArray[np.float32]],
        rpm: list[float] | None,
        stride: int | None,
        progress: _Progress,
    ) -> tuple[NDArray[np.float32], list[int], int]: ...
    def rows(
        self, windows: NDArray[np.float32], rpm: float | None, progress: _Progress
    ) -> NDArray[np.float32]: ...
    @staticmethod
    def from_json(text: str) -> FrontEnd: ...

class Library:
    domains: list[str]
    classes: list[str]
    healthy: str | None
    front_end: FrontEnd
    @staticmethod
    def of_features(
        machines: list[tuple[str, NDArray[np.float32], list[str], list[int], int]],
        front_end: FrontEnd,
        settings: dict[str, Any],
        progress: _Progress,
    ) -> Library: ...
    @staticmethod
    def of_manifest(
        manifest: str | PathLike[str],
        domains: list[str],
        fft_len: int,
        hop: int,
        segments: int,
        bands: str,
        blocks: str,
        settings: dict[str, Any],
        progress: _Progress,
    ) -> Library: ...
    @staticmethod
    def from_json(text: bytes) -> Library: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Library: ...
    def to_json(self) -> bytes: ...
    def write(self, path: str | PathLike[str]) -> None: ...
    def only(self, domain: str) -> Library: ...

class MonitorCore:
    encoding: str
    integers: bool
    axes: int
    rate: float
    window_len: int
    classes: list[str]
    model: bytes
    def __init__(self, bytes: bytes) -> None: ...
    def push(self, samples: NDArray[np.float32] | NDArray[np.int16]) -> list[dict[str, Any]]: ...
    def clear(self) -> None: ...
    def set_shaft_speed(self, hz: float) -> None: ...
