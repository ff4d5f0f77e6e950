"""Arrays of every layout and type give the right numbers or a text that names the place."""

import numpy as np
import pytest

import rebearing

LAYOUTS = {
    "fortran order": np.asfortranarray,
    "every second row and column": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "negative strides": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda x: _frozen(x),
    "byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "packed records": lambda x: _packed(x),
    "object": lambda x: x.astype(object),
    "long double": lambda x: x.astype(np.longdouble),
    "masked array without a mask": np.ma.masked_array,
    "matrix": np.matrix,
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x)),
    "rows in a list": list,
}
WHOLE = {
    "int64": lambda x: x.astype(np.int64),
    "int32 of another byte order": lambda x: x.astype(np.dtype(np.int32).newbyteorder()),
    "int16": lambda x: x.astype(np.int16),
    "int8": lambda x: x.astype(np.int8),
}
REFUSED = {
    "NaN": (lambda x: _with(x, np.nan), "row 7, column 2 is NaN"),
    "infinity": (lambda x: _with(x, np.inf), "row 7, column 2 is inf"),
    "minus infinity": (lambda x: _with(x, -np.inf), "row 7, column 2 is -inf"),
    "None in an object array": (lambda x: _with(x.astype(object), None), "row 7, column 2 is NaN"),
    "a word": (lambda x: _with(x.astype(object), "much"), "row 7, column 2 .*'much'"),
    "a number beyond all floats": (
        lambda x: _with(x.astype(object), 10**400),
        "row 7, column 2 .*too large",
    ),
    "a list in an object array": (lambda x: _with(x.astype(object), [1]), "row 7, column 2"),
    "a masked number": (
        lambda x: np.ma.masked_array(x, _with(x * 0, 1)),
        "row 7, column 2 .*masked",
    ),
    "no rows": (lambda x: x[:0], r"0 sample\(s\) \(shape=\(0, 4\)\)"),
    "no rows of a huge width": (lambda x: np.empty((0, 2**40)), r"0 sample\(s\) \(shape=\(0, 1099"),
    "no columns": (lambda x: x[:, :0], r"0 feature\(s\)"),
    "a huge number of empty rows": (lambda x: np.empty((2**40, 0)), r"0 feature\(s\)"),
    "a number": (lambda x: np.array(1.0), "got scalar array"),
    "a vector": (lambda x: x[0], "got 1D array"),
    "three dimensions": (lambda x: x[None], "got 3D array"),
    "text": (lambda x: x.astype(str), "must hold numbers"),
    "times": (lambda x: x.astype("M8[s]"), "must hold numbers"),
    "complex numbers": (lambda x: x + 1j, "[Cc]omplex"),
    "rows of different lengths": (lambda x: [[1.0, 2.0], [3.0]], "inhomogeneous"),
}


def _frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _packed(x):
    records = np.zeros(len(x), dtype=[("flag", "u1"), ("x", x.dtype, x.shape[1:])])
    records["x"] = x
    assert not records["x"].flags.aligned
    return records["x"]


def _with(x, value):
    x = x.copy()
    x[7, 2] = value
    return x


def fit_mixture(domains, x):
    mixture = rebearing.GaussianMixture(3).fit(x)
    return mixture.weights_, mixture.means_, mixture.covariances_


def evaluate_mixture(domains, x):
    mixture = rebearing.GaussianMixture(3, covariance_type="diag").fit(domains.Xs)
    return mixture.score_samples(x), mixture.predict_proba(x)


def fit_source(domains, x):
    model = rebearing.GMMOTDAClassifier().fit(x, domains.ys, domains.Xt)
    return (model.predict_proba(domains.Xt),)


def fit_target(domains, x):
    model = rebearing.GMMOTDAClassifier(method="t").fit(domains.Xs, domains.ys, x)
    return (model.predict_proba(domains.Xt),)


def predict(domains, x):
    return (rebearing.GMMOTDAClassifier().fit(domains.Xs, domains.ys).predict_proba(x),)


def map_rows(domains, x):
    mixtures = [rebearing.GaussianMixture(2).fit(rows) for rows in (domains.Xs, domains.Xt)]
    plan, _ = rebearing.mixture_plan(*mixtures)
    return rebearing.T_mean(x, *mixtures, plan), *rebearing.T_weight(x, *mixtures, plan)


def plan_exact(domains, x):
    return (rebearing.plan(x),)


def plan_entropic(domains, x):
    return (rebearing.plan(x, reg=0.1),)


USES = [
    fit_mixture,
    evaluate_mixture,
    fit_source,
    fit_target,
    predict,
    map_rows,
    plan_exact,
    plan_entropic,
]
each_use = pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)


def same_bits(found, expected):
    """Asserts that both are the same arrays, bit by bit."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@each_use
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_layouts_do_not_change_a_bit(domains, use, layout):
    same_bits(use(domains, LAYOUTS[layout](domains.Xs)), use(domains, domains.Xs))


@each_use
def test_memory_mapped_files_do_not_change_a_bit(domains, use, tmp_path):
    np.save(tmp_path / "x.npy", domains.Xs)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    same_bits(use(domains, mapped), use(domains, domains.Xs))


@each_use
@pytest.mark.parametrize("layout", WHOLE)
def test_whole_numbers_are_numbers(domains, use, layout):
    whole = np.round(domains.Xs)
    same_bits(use(domains, WHOLE[layout](whole)), use(domains, whole))


@each_use
def test_true_is_one(domains, use):
    bits = domains.Xs > 1
    same_bits(use(domains, bits), use(domains, bits.astype(float)))


@each_use
def test_half_precision_is_single_precision(domains, use):
    single = domains.Xs.astype(np.float32)
    same_bits(use(domains, domains.Xs.astype(np.float16)), use(domains, single))
    for layout in (np.asfortranarray, LAYOUTS["negative strides"], LAYOUTS["byte order"]):
        same_bits(use(domains, layout(single)), use(domains, single))


@each_use
def test_single_precision_is_close_to_double(domains, use):
    pairs = zip(use(domains, domains.Xs.astype(np.float32)), use(domains, domains.Xs))
    for single, double in pairs:
        np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-4)


@each_use
@pytest.mark.parametrize("hostile", REFUSED)
def test_refusals_name_the_place(domains, use, hostile):
    make, text = REFUSED[hostile]
    with pytest.raises((ValueError, TypeError), match=text):
        use(domains, make(domains.Xs))


@pytest.mark.parametrize("method", ["source-only", "gmm-otda-map", "gmm-otda-t", "otda-exact"])
def test_refusals_name_the_matrix(domains, method):
    bad = _with(domains.Xs, np.nan)
    model = rebearing.TransferClassifier(method)
    with pytest.raises(ValueError, match="^Xs.*row 7, column 2"):
        model.fit(bad, domains.ys, domains.Xt)
    with pytest.raises(ValueError, match="^Xt.*row 7, column 2"):
        model.fit(domains.Xs, domains.ys, bad)
    # The row is counted as the caller has it, not among the rows of the target.
    both = np.concatenate([domains.Xs, bad])
    with pytest.raises(ValueError, match="^X .*row 127, column 2"):
        model.fit(both, np.tile(domains.ys, 2), sample_domain=np.repeat([1, -2], 120))


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([[0.5, 0.5]], r"a has the shape \(1, 2\); it must be 2 weights"),
        ([0.5, 0.25, 0.25], r"a has the shape \(3,\)"),
        ([0.5, np.nan], "a .*weight 1 is NaN"),
        ([-1.0, 2.0], "a .*weight 0 is -1"),
        ([], r"a has the shape \(0,\)"),
        (["half", "half"], "half"),
    ],
)
def test_weights_of_a_plan_are_checked(weights, text):
    with pytest.raises((ValueError, TypeError), match=text):
        rebearing.plan(np.ones((2, 2)), a=weights)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (lambda y: y[:-1], r"\[120, 119\]"),
        (lambda y: None, "y is None|y to be passed"),
        (lambda y: y + 0.5, "continuous"),
        (lambda y: np.where(y == 1, np.nan, y), "NaN"),
        (lambda y: y[:, None].repeat(2, 1), r"\(120, 2\)"),
        (lambda y: y + 1j, "[Cc]omplex"),
        (lambda y: np.array([*y[:-1], None], dtype=object), "y .*one kind.*NoneType"),
        (lambda y: np.ma.masked_array(y, y == 2), "y.*masked"),
    ],
)
def test_labels_are_checked(domains, labels, text):
    with pytest.raises((ValueError, TypeError), match=text):
        rebearing.GMMOTDAClassifier().fit(domains.Xs, labels(domains.ys), domains.Xt)


def test_no_array_is_changed(domains):
    before = [a.copy() for a in (domains.Xs, domains.ys, domains.Xt)]
    rebearing.GMMOTDAClassifier(method="t").fit(domains.Xs, domains.ys, domains.Xt)
    same_bits([domains.Xs, domains.ys, domains.Xt], before)
