"""The methods: ways to call them, and what they agree with."""

import pickle

import numpy as np
import pytest

import rebearing
from rebearing import GMMOTDAClassifier, RebearingError, TransferClassifier, transfer
from rebearing._rebearing import method_names


@pytest.fixture
def domains():
    rng = np.random.default_rng(2)
    ys = np.repeat(["ball", "healthy", "inner"], 60)
    centre = {"ball": (0, 0), "healthy": (9, 0), "inner": (0, 9)}
    Xs = rng.normal(size=(180, 2)) + [centre[y] for y in ys]
    order = rng.permutation(180)
    Xt = rng.normal(size=(180, 2)) + [centre[y] for y in ys] + np.array([2.0, -1.5])
    return Xs, ys, Xt[order], ys[order]


@pytest.mark.parametrize("method", method_names())
def test_every_method_carries_the_labels(domains, method):
    Xs, ys, Xt, yt = domains
    # The softmax of a mapped source and a mixture both find these clouds.
    assert (transfer(Xs, ys, Xt, method) == yt).mean() > 0.95


@pytest.mark.parametrize("method", ["map", "t"])
def test_the_three_ways_to_give_domains_are_one(domains, method):
    Xs, ys, Xt, yt = domains
    wanted = GMMOTDAClassifier(method=method).fit(Xs, ys, Xt).predict_proba(Xt)
    pot = GMMOTDAClassifier(method=method).fit(Xs=Xs, ys=ys, Xt=Xt).predict_proba(Xt)
    both = np.vstack([Xs, Xt])
    # Labels of the target are not looked at.
    masked = np.concatenate([ys, np.full(len(Xt), "masked")])
    domain = np.repeat([3, -7], [len(Xs), len(Xt)])
    skada = GMMOTDAClassifier(method=method).fit(both, masked, sample_domain=domain)
    assert list(skada.classes_) == ["ball", "healthy", "inner"]
    assert (pot == wanted).all() and (skada.predict_proba(Xt) == wanted).all()
    own = GMMOTDAClassifier(method=method).fit(Xs, ys)
    assert own.score(Xs, ys) > 0.99


def test_n_components_are_those_of_a_mixture_in_all(domains):
    Xs, ys, Xt, _ = domains
    for given, source in [(None, 6), (3, 3), (7, 7), (1, 1)]:
        model = GMMOTDAClassifier(given).fit(Xs, ys, Xt)
        (weights, *_), labels = model.classifier_
        assert (len(weights), labels.shape) == (source, (source, 3))


@pytest.mark.parametrize("labels", [np.int64, np.int8, np.float64, bool, object, str])
def test_labels_of_any_type_come_back(domains, labels):
    Xs, ys, Xt, yt = domains
    ys, yt = (np.where(y == "healthy", 0, 1).astype(labels) for y in (ys, yt))
    model = GMMOTDAClassifier().fit(Xs, ys, Xt)
    found = model.predict(Xt)
    assert found.dtype == model.classes_.dtype == np.unique(ys).dtype
    assert (found == yt).mean() > 0.95


def test_guarded_gives_a_verdict_and_abstains(domains):
    Xs, ys, Xt, _ = domains
    kept = TransferClassifier("guarded").fit(Xs, ys, Xt)
    assert kept.verdict_ == "adapt" and kept.predicted_accuracy_ >= 0.9 and kept.reasons_
    noise = np.random.default_rng(0).normal(size=(200, 2)) * 0.1
    lost = TransferClassifier("guarded").fit(Xs, ys, noise)
    assert lost.verdict_ == "abstain"
    assert set(lost.predict(noise)) == {"unknown"}
    assert not lost.predict_proba(noise).any()
    numbered = TransferClassifier("guarded").fit(Xs, np.unique(ys, return_inverse=True)[1], noise)
    assert set(numbered.predict(noise)) == {-1}
    forced = TransferClassifier("guarded", force=True).fit(Xs, ys, noise)
    assert forced.forced_ and set(forced.predict(noise)) <= set(ys)


def test_scales_differ_and_none_leaves_the_features(domains):
    Xs, ys, Xt, yt = domains
    Xs, Xt = Xs * [1, 1000], Xt * [1, 1000]
    found = {s: GMMOTDAClassifier(scale=s).fit(Xs, ys, Xt) for s in ["source", "each", "none"]}
    assert found["none"].scaling_ is None
    assert found["source"].scaling_[0] == pytest.approx(Xs.mean(axis=0))
    assert found["each"].scaling_[0] == pytest.approx(Xt.mean(axis=0))
    assert all(model.score(Xt, yt) > 0.6 for model in found.values())
    with pytest.raises(RebearingError, match='scale is "both"'):
        GMMOTDAClassifier(scale="both").fit(Xs, ys, Xt)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (dict(sample_domain=[1] * 180), "no row has a negative"),
        (dict(sample_domain=[-1] * 180), "no row has a positive"),
        (dict(sample_domain=[1, -1, 0] * 60), "sample_domain of row 2 is 0"),
        (dict(sample_domain=[1.5] * 180), "integers"),
        (dict(sample_domain=[1, -1]), "180 integers"),
        (dict(Xt=np.zeros((5, 3))), "3 features"),
        (dict(Xt=np.full((5, 2), np.nan)), "row 0, column 0"),
    ],
)
def test_bad_domains_are_refused(domains, arguments, text):
    Xs, ys, *_ = domains
    with pytest.raises(ValueError, match=text):
        GMMOTDAClassifier().fit(Xs, ys, **arguments)


@pytest.mark.parametrize(
    "settings", [dict(reg=-1), dict(reg_m=0), dict(reg=0), dict(n_init=0), dict(method="x")]
)
def test_settings_out_of_range_are_refused(domains, settings):
    Xs, ys, Xt, _ = domains
    with pytest.raises(ValueError, match=next(iter(settings))):
        GMMOTDAClassifier(**settings).fit(Xs, ys, Xt)


def test_tables_of_every_package_are_the_array(domains):
    Xs, ys, Xt, _ = domains
    wanted = GMMOTDAClassifier().fit(Xs, ys, Xt).predict_proba(Xt)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    makers = [
        lambda x: pandas.DataFrame(x, columns=["a", "b"]),
        lambda x: polars.DataFrame(x, schema=["a", "b"]),
        lambda x: arrow.table({"a": x[:, 0], "b": x[:, 1]}),
    ]
    for make in makers:
        model = GMMOTDAClassifier().fit(make(Xs), ys, make(Xt))
        assert list(model.feature_names_in_) == ["a", "b"]
        assert (model.predict_proba(make(Xt)) == wanted).all()
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(make(Xt).rename({"a": "c"}) if make is makers[1] else pandas.DataFrame(
                Xt, columns=["c", "b"]))
    with pytest.raises(ValueError, match="column 'b' holds"):
        rebearing._rebearing.table(polars.DataFrame({"a": [1.0], "b": ["x"]}))


def test_pipelines_searches_and_skada_take_it(domains):
    Xs, ys, Xt, yt = domains
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    search = GridSearchCV(
        make_pipeline(StandardScaler(), GMMOTDAClassifier()),
        {"gmmotdaclassifier__n_components": [3, 6]},
    )
    assert search.fit(Xs, ys).score(Xs, ys) > 0.99
    skada = pytest.importorskip("skada")
    pipe = skada.make_da_pipeline(StandardScaler(), GMMOTDAClassifier())
    classes, index = np.unique(np.concatenate([ys, yt]), return_inverse=True)
    domain = np.repeat([1, -2], [len(Xs), len(Xt)])
    pipe.fit(np.vstack([Xs, Xt]), index, sample_domain=domain)
    assert (classes[pipe.predict(Xt)] == yt).mean() > 0.95


def test_the_nearest_moved_row_as_a_classifier(domains):
    Xs, ys, Xt, yt = domains
    model = TransferClassifier("otda-exact", classifier="nearest").fit(Xs, ys, Xt)
    posterior = model.predict_proba(Xt)
    assert set(np.unique(posterior)) == {0.0, 1.0}
    assert not np.array_equal(posterior, TransferClassifier("otda-exact").fit(Xs, ys, Xt).predict_proba(Xt))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(Xt), model.predict(Xt))
    with pytest.raises(RebearingError, match='classifier is "best"'):
        TransferClassifier("otda-exact", classifier="best").fit(Xs, ys, Xt)
