"""Tables of pandas, polars and pyarrow give the bits of numpy's arrays."""

import numpy as np
import pytest

import rebearing

pyarrow = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAMES = ["rms", "crest", "kurtosis", "skew"]


def columns(x):
    return {name: np.ascontiguousarray(x[:, index]) for index, name in enumerate(NAMES)}


def in_chunks(x):
    """A table in several pieces, as a stream brings it."""
    parts = [pyarrow.table(columns(part)) for part in np.array_split(x, 7)]
    return pyarrow.concat_tables(parts)


TABLES = {
    "pyarrow": lambda x: pyarrow.table(columns(x)),
    "pyarrow in chunks": in_chunks,
    "pyarrow record batch": lambda x: pyarrow.record_batch(columns(x)),
    "polars": lambda x: polars.DataFrame(columns(x)),
    "polars in chunks": lambda x: polars.concat(
        [polars.DataFrame(columns(part)) for part in np.array_split(x, 7)], rechunk=False
    ),
    "pandas": lambda x: pandas.DataFrame(columns(x)),
    "pandas with its index": lambda x: pandas.DataFrame(columns(x)).set_index(
        np.arange(len(x)) + 7
    ),
    "pandas on Arrow": lambda x: pandas.DataFrame(columns(x)).astype(f"{x.dtype}[pyarrow]"),
}
each_table = pytest.mark.parametrize("table", TABLES)


@each_table
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tables_do_not_change_a_bit(domains, table, dtype):
    xs, xt = domains.Xs.astype(dtype), domains.Xt.astype(dtype)
    expected = rebearing.GMMOTDAClassifier().fit(xs, domains.ys, xt)
    make = TABLES[table]
    found = rebearing.GMMOTDAClassifier().fit(make(xs), domains.ys, make(xt))
    assert list(found.feature_names_in_) == NAMES
    assert found.predict_proba(make(xt)).tobytes() == expected.predict_proba(xt).tobytes()


@each_table
def test_tables_with_other_columns_are_refused(domains, table):
    mixture = rebearing.GaussianMixture(3).fit(TABLES[table](domains.Xs))
    renamed = pandas.DataFrame(columns(domains.Xs)).rename(columns={"rms": "peak"})
    with pytest.raises(ValueError, match="- peak\n.*\n- rms"):
        mixture.predict(renamed)


@each_table
def test_integers_are_numbers(domains, table):
    whole = np.round(domains.Xs).astype(np.int32)
    found = rebearing.GaussianMixture(3).fit(TABLES[table](whole))
    expected = rebearing.GaussianMixture(3).fit(whole)
    assert found.means_.tobytes() == expected.means_.tobytes()


@pytest.mark.parametrize("make", [pyarrow.table, polars.DataFrame, pandas.DataFrame])
def test_a_missing_value_is_named(domains, make):
    holed = {name: list(column) for name, column in columns(domains.Xs).items()}
    holed["kurtosis"][7] = None
    with pytest.raises(ValueError, match="X at row 7, column 2 is NaN"):
        rebearing.GaussianMixture(3).fit(make(holed))


@pytest.mark.parametrize("make", [pyarrow.table, polars.DataFrame])
def test_a_column_of_words_is_named(domains, make):
    words = columns(domains.Xs) | {"kurtosis": ["high"] * len(domains.Xs)}
    with pytest.raises(ValueError, match="column 'kurtosis' holds .*numbers"):
        rebearing.GaussianMixture(3).fit(make(words))


def test_a_parquet_file_with_zstd(domains, tmp_path):
    path = tmp_path / "features.parquet"
    polars.DataFrame(columns(domains.Xs)).write_parquet(path, compression="zstd")
    found = rebearing.GaussianMixture(3).fit(polars.read_parquet(path))
    expected = rebearing.GaussianMixture(3).fit(domains.Xs)
    assert found.means_.tobytes() == expected.means_.tobytes()


@pytest.mark.parametrize("make", [pyarrow.chunked_array, polars.Series, pandas.Series])
def test_labels_of_tables(domains, make):
    labels = np.array(["fine", "worn", "broken"])[domains.ys]
    y = make([labels]) if make is pyarrow.chunked_array else make(labels)
    found = rebearing.GMMOTDAClassifier().fit(domains.Xs, y, domains.Xt)
    assert list(found.classes_) == ["broken", "fine", "worn"]
    assert (found.predict(domains.Xt) == labels).all()
