"""Reading the shipped files, and the one shape in which every loader hands out its data."""

from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from spectralkit.datasets._description import Description

# A Bunch, or the pair (data, target); scikit-learn and pandas carry no types that could say more.
Loaded: TypeAlias = Any


def read_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of one shipped file, all numbers as float64 in C order.

    Parameters
    ----------
    name : str
        Name of the file without its ending.

    Returns
    -------
    dict of str to ndarray
        Fresh, writable arrays by their name in the file.
    """
    source = files("spectralkit.datasets").joinpath("data", f"{name}.npz")
    with source.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return {key: _as_double(archive[key]) for key in archive.files}


def _as_double(stored: NDArray[Any]) -> NDArray[Any]:
    if stored.dtype.kind == "U":
        return stored
    if stored.dtype == np.float32:
        # By way of the shortest decimal that the single-precision number stands for: that is the published value
        # (14.96), which a plain conversion would turn into 14.960000038.
        stored = stored.astype(str, order="C")
    return stored.astype(np.float64, order="C")


def import_pandas() -> Any:
    """Import pandas, which only ``as_frame=True`` needs.

    Returns
    -------
    module
        The pandas package.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which cannot be imported here. Install it with `pip install pandas`, "
            "or leave as_frame=False to get NumPy arrays."
        ) from error
    return pd


def hand_out(
    description: Description,
    data: NDArray[np.float64],
    target: NDArray[Any],
    *,
    return_X_y: bool,
    as_frame: bool,
    **extras: Any,
) -> Loaded:
    """Put features and target into the form that was asked for.

    Parameters
    ----------
    description : Description
        What the data set is; gives the column names, the units and ``DESCR``.
    data : ndarray of shape (n_samples, n_features)
        The features.
    target : ndarray of shape (n_samples,)
        The target.
    return_X_y : bool
        Return the pair (data, target) instead of a Bunch.
    as_frame : bool
        Return a pandas DataFrame and Series instead of arrays.
    **extras : object
        Further entries of the Bunch.

    Returns
    -------
    Bunch or tuple
        The Bunch, or the pair (data, target).
    """
    features, target_name = description.feature_names, description.target_name
    frame: Any = None
    shown_data: Any = data
    shown_target: Any = target
    if as_frame:
        frame = import_pandas().DataFrame(data, columns=features)
        frame[target_name] = target
        shown_data, shown_target = frame[features], frame[target_name]
    if return_X_y:
        return shown_data, shown_target
    return Bunch(
        data=shown_data,
        target=shown_target,
        frame=frame,
        feature_names=features,
        target_names=[target_name],
        units=dict(description.units),
        DESCR=description.text(),
        **extras,
    )
