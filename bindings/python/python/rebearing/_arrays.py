"""Input of estimators: arrays and tables to matrices that the engine uses in place.

The texts of errors are scikit-learn's where it has them, so that programs which look for them find
them.
"""

import warnings

import numpy as np

from . import _rebearing
from ._base import DataConversionWarning


def matrix(x, name="X"):
    """Returns ``x`` as a C-contiguous float32 or float64 matrix, and the names of its columns.

    A float32 or float64 array in C order is not copied. The names are None unless ``x`` is a table
    whose columns all have strings as names.
    """
    if hasattr(x, "tocsr") and not hasattr(x, "__array__"):
        raise TypeError(
            f"Sparse data was passed for {name}, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array."
        )
    names = None
    if hasattr(x, "columns") or hasattr(x, "column_names"):
        names = _column_names(x)
        x = _table(x)
    array = np.asarray(x)
    if array.ndim != 2:
        has = "scalar" if array.ndim == 0 else f"{array.ndim}D"
        raise ValueError(
            f"Expected 2D array, got {has} array instead for {name}. Reshape your data either "
            "using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) "
            "if it contains a single sample."
        )
    if np.ma.is_masked(x):
        row, column = (int(index) for index in np.argwhere(np.ma.getmaskarray(x))[0])
        raise ValueError(
            f"{name} at row {row}, column {column} is masked; fill it or leave the row out"
        )
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {name} is {array.dtype}")
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} is an array of {array.dtype}; it must hold numbers")
    single = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    array = _numbers(array, np.float32 if single else np.float64, name)
    rows, columns = array.shape
    if rows == 0 or columns == 0:
        what = f"{rows} sample(s)" if rows == 0 else f"{columns} feature(s)"
        raise ValueError(
            f"Found array with {what} (shape={array.shape}) while a minimum of 1 is required: {name}"
        )
    array = np.ascontiguousarray(array)
    # A view at an odd address, such as a field of packed records.
    array = array if array.flags.aligned else array.copy()
    _finite(array, name)
    return array, names


def _numbers(array, dtype, name):
    """The matrix in this type, and not copied if it has it already."""
    try:
        return array.astype(dtype, copy=False)
    except (ValueError, TypeError, OverflowError):
        for (row, column), value in np.ndenumerate(array):
            try:
                float(value)
            except (ValueError, TypeError, OverflowError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                place = f"{name} at row {row}, column {column} is {str(value)[:40]!r}"
                raise kind(f"{place}, which is no number: {error}") from None
        raise


def _finite(array, name):
    """Raises an error for the first number that is NaN or infinite."""
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    # A sum can overflow too. Look at one row at a time, so that no copy is made.
    for row, values in enumerate(array):
        finite = np.isfinite(values)
        if not finite.all():
            column = int(finite.argmin())
            value = str(values[column]).replace("nan", "NaN")
            raise _rebearing.RebearingError(
                f"{name} at row {row}, column {column} is {value}; remove the row or repair the "
                "recording it comes from"
            )


def _table(x):
    if hasattr(x, "__arrow_c_stream__"):
        try:
            return _rebearing.table(x)[0]
        except ImportError:
            pass  # pandas needs pyarrow for it, and has an array too.
    return x


def _column_names(x):
    columns = getattr(x, "columns", None)
    if hasattr(x, "column_names"):
        columns = x.column_names
    names = list(columns)
    strings = [isinstance(name, str) for name in names]
    if not names or not any(strings):
        return None
    if not all(strings):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {sorted({type(name).__name__ for name in names})} as feature name / column "
            "name types. If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return np.asarray(names, dtype=object)


def fitted_matrix(estimator, x, name="X"):
    """Returns ``x`` as a matrix and remembers its columns in the estimator."""
    array, names = matrix(x, name)
    estimator.n_features_in_ = array.shape[1]
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return array


def known_matrix(estimator, x, name="X"):
    """Returns ``x`` as a matrix with the columns that the estimator was fitted to."""
    array, names = matrix(x, name)
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None and names is not None:
        warnings.warn(
            f"X has feature names, but {type(estimator).__name__} was fitted without feature names",
            UserWarning,
            stacklevel=3,
        )
    elif fitted is not None and names is None:
        warnings.warn(
            "X does not have valid feature names, but "
            f"{type(estimator).__name__} was fitted with feature names",
            UserWarning,
            stacklevel=3,
        )
    elif fitted is not None and list(fitted) != list(names):
        raise ValueError(_other_names(list(fitted), list(names)))
    expected = estimator.n_features_in_
    if array.shape[1] != expected:
        raise ValueError(
            f"X has {array.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{expected} features as input"
        )
    return array


def _other_names(fitted, names):
    """The text for columns that are not those of the fit."""
    text = "The feature names should match those that were passed during fit.\n"
    for title, some in [
        ("Feature names unseen at fit time:\n", sorted(set(names) - set(fitted))),
        ("Feature names seen at fit time, yet now missing:\n", sorted(set(fitted) - set(names))),
    ]:
        if some:
            text += title + "".join(f"- {name}\n" for name in some[:5])
            text += "- ...\n" if len(some) > 5 else ""
    if set(names) == set(fitted):
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def labels(y, rows, name="y"):
    """Returns ``y`` as a vector of labels: one for each of ``rows`` rows."""
    if y is None:
        raise ValueError(f"requires {name} to be passed, but the target {name} is None")
    if np.ma.is_masked(y):
        row = int(np.argwhere(np.ma.getmaskarray(y))[0][0])
        raise ValueError(f"{name} of row {row} is masked; a label is missing")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            f"A column-vector {name} was passed when a 1d array was expected. Please change the "
            f"shape of {name} to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]"
        )
    return y


def classes(y, name="y"):
    """Returns the sorted classes of ``y`` and the index of each label in them."""
    if y.dtype.kind == "f":
        if np.isnan(y).any():
            raise ValueError(f"Input {name} contains NaN.")
        if np.isinf(y).any():
            raise ValueError(
                f"Input {name} contains infinity or a value too large for dtype('float64')."
            )
        if (y != np.floor(y)).any():
            raise ValueError(
                "Unknown label type: continuous. A classifier expects discrete classes; round the "
                "labels or bin them"
            )
    elif y.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {y.dtype}")
    try:
        found, index = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise TypeError(f"labels in {name} must be of one kind, not {kinds}: {error}") from None
    return found, np.ascontiguousarray(index.reshape(-1), dtype=np.int64)


def seed(random_state):
    """Returns the engine's seed for a random state.

    An integer is the seed itself, as on the command line. None takes one from numpy's global random
    numbers, a RandomState or a Generator gives its next number.
    """
    if random_state is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**64:
        return int(random_state)
    raise ValueError(
        f"{random_state!r} cannot be used to seed; give an integer from 0, None, a "
        "numpy.random.RandomState or a numpy.random.Generator"
    )


def generator(random_state):
    """Returns numpy's random numbers for a random state."""
    if isinstance(random_state, (np.random.RandomState, np.random.Generator)):
        return random_state
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed(random_state))))
