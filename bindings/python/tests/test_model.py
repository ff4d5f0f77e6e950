"""Models, libraries and monitors with hostile input; their copies."""

import copy
import json
import pickle
import zlib

import numpy as np
import pytest

from rebearing import GuardedAdapter, Library, Monitor, RebearingError, SpectralFeatures


@pytest.fixture(scope="module")
def library(machines):
    return Library.from_manifest(machines, ["motor-a", "motor-b"])


@pytest.fixture(scope="module", params=["f32", "i16"])
def adapter(request, library, machines):
    return GuardedAdapter("all", encoding=request.param).fit_manifest(library, machines, "motor-c")


def noise(rows=20000):
    """Samples within the full scale of the i16 model."""
    return np.random.default_rng(0).normal(scale=0.2, size=rows).astype(np.float32)


def labels(model, samples):
    return [finding.label for finding in Monitor(model).push(samples)]


def attempt(model, samples):
    """Runs a model that may be damaged. Returns whether it was accepted."""
    try:
        Monitor(model).push(samples)
    except RebearingError as error:
        assert str(error)
        return False
    return True


def test_every_truncation_of_a_model_is_refused(adapter):
    model = adapter.to_rbm()
    samples = noise(4096)
    assert attempt(model, samples)
    for end in range(len(model)):
        assert not attempt(model[:end], samples), end


def test_mutations_of_a_model_do_no_harm(adapter):
    """Half of them get a right checksum, so that they reach the checks behind it."""
    rng = np.random.default_rng(0)
    model, samples, accepted = bytearray(adapter.to_rbm()), noise(4096), 0
    for round in range(5000):
        mutant = model.copy()
        for place in rng.integers(len(mutant), size=rng.integers(1, 4)):
            mutant[place] = rng.choice(
                [0, 1, 0x7F, 0x80, 0xFF, mutant[place] ^ 1 << rng.integers(8)]
            )
        if round % 2:
            mutant[12:16] = bytes(4)
            mutant[12:16] = zlib.crc32(mutant).to_bytes(4, "little")
        accepted += attempt(bytes(mutant), samples)
    # Many numbers of a mixture are as good as others. None gets through without its checksum.
    assert 50 < accepted < 2600


@pytest.mark.parametrize("what", [b"", b"rebearing", bytes(10**6), "text", None, 3, [1, 2]])
def test_what_is_no_model_is_refused(what):
    with pytest.raises((RebearingError, TypeError)):
        Monitor(what)


def test_bytes_of_other_kinds_are_a_model(adapter):
    model = adapter.to_rbm()
    for same in (bytearray(model), memoryview(model), np.frombuffer(model, np.uint8)):
        assert Monitor(same).classes_ == Monitor(model).classes_


LAYOUTS = {
    "float64": lambda x: x.astype(np.float64),
    "one column": lambda x: x.reshape(-1, 1),
    "every second": lambda x: np.repeat(x, 2)[::2],
    "negative strides": lambda x: x[::-1].copy()[::-1],
    "byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "list": lambda x: x.tolist(),
    "masked array without a mask": np.ma.masked_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_samples_do_not_change_a_bit(adapter, layout):
    samples = noise()
    for run in (
        lambda x: [(one.log_likelihood, one.rms) for one in Monitor(adapter.to_rbm()).push(x)],
        lambda x: SpectralFeatures(20000).windows(x).tobytes(),
    ):
        assert len(run(samples)) > 3
        assert run(LAYOUTS[layout](samples)) == run(samples)


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (np.zeros((100, 2)), r"\(100, 2\)"),
        (np.array(1.0), r"\(\)"),
        (np.array(["a", "b"]), "must be numbers"),
        (np.zeros(100, complex), "must be numbers"),
        (np.ma.masked_array(np.zeros(100), np.arange(100) == 7), "sample 7 .*masked"),
    ],
)
def test_samples_are_checked(adapter, samples, text):
    with pytest.raises(RebearingError, match=text):
        Monitor(adapter.to_rbm()).push(samples)
    with pytest.raises(RebearingError, match=text):
        SpectralFeatures(20000).windows(samples)


def test_a_broken_sensor_is_a_finding(adapter):
    samples = noise()
    samples[100] = np.nan
    monitor = Monitor(adapter.to_rbm())
    if monitor.encoding_ == "i16":
        with pytest.raises(RebearingError, match="NaN .* frame 100"):
            monitor.push(samples)  # No count is NaN.
        return
    first, *rest = monitor.push(samples)
    assert first.label == "sensor_fault" and first.posterior is None
    assert rest and all(finding.label != "sensor_fault" for finding in rest)


@pytest.mark.parametrize("parts", [1, 7, 5000])
def test_samples_may_come_in_parts(adapter, parts):
    monitor, samples = Monitor(adapter.to_rbm()), noise()
    found = [one.label for part in np.array_split(samples, parts) for one in monitor.push(part)]
    assert found == labels(adapter.to_rbm(), samples)


COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
each_copy = pytest.mark.parametrize("how", COPIES, ids=["copy", "deepcopy", "pickle"])


@each_copy
def test_copies_of_everything(how, library, adapter):
    samples = noise()
    assert how(library) == library
    assert labels(how(adapter).to_rbm(), samples) == labels(adapter.to_rbm(), samples)
    assert how(adapter).verdict_ == adapter.verdict_
    features = SpectralFeatures(20000, bands="mel:64", segments=3)
    assert how(features).windows(samples).tobytes() == features.windows(samples).tobytes()
    rows = SpectralFeatures(20000).windows(samples)
    assert how(adapter).predict_proba(rows).tobytes() == adapter.predict_proba(rows).tobytes()
    monitor = Monitor(adapter.to_rbm())
    monitor.push(samples[:1000])
    assert [found.label for found in how(monitor).push(samples)] == labels(
        adapter.to_rbm(), samples
    )


@each_copy
def test_copies_before_the_fit(how):
    for estimator in (GuardedAdapter("healthy", 0.8), SpectralFeatures(12000, axes=3)):
        assert how(estimator).get_params() == estimator.get_params()


def test_clones_have_the_parameters_and_no_fit(adapter):
    base = pytest.importorskip("sklearn.base")
    clone = base.clone(adapter)
    assert clone.get_params() == adapter.get_params()
    with pytest.raises(ValueError, match="not fitted yet"):
        clone.to_rbm()


@pytest.mark.parametrize("promise", [0.9, 1.0])
@pytest.mark.parametrize("pool_is", ["all", "healthy", "unknown"])
def test_models_of_every_verdict_are_the_commands(
    machines, library, command, tmp_path, pool_is, promise
):
    library.save(tmp_path / "library.json")
    out = tmp_path / "model.rbm"
    words = ["--source", tmp_path / "library.json", "--manifest", machines, "--domain", "motor-c"]
    command("adapt", *words, "--pool-is", pool_is, "--promise", str(promise), "--out", out)
    found = GuardedAdapter(pool_is, promise).fit_manifest(library, machines, "motor-c")
    assert found.to_rbm() == out.read_bytes()


def test_mutations_of_a_library_do_no_harm(library):
    text = library.to_json()
    assert Library.from_json(text) == library
    rng, refused = np.random.default_rng(0), 0
    for _ in range(300):
        mutant = bytearray(text)
        for place in rng.integers(len(mutant), size=2):
            mutant[place] = rng.choice(list(b'09-e.,"[]{}x\xff'))
        try:
            Library.from_json(bytes(mutant))
        except RebearingError as error:
            assert str(error)
            refused += 1
    assert refused > 30
    for end in range(0, len(text) - 1, len(text) // 200):
        with pytest.raises(RebearingError):
            Library.from_json(text[:end])
    for value in (None, [], 3, {"sources": {}}):
        with pytest.raises(RebearingError):
            Library.from_json(json.dumps(value))
