"""Time series of the sea and the air: one feature, the time."""

import numpy as np

from spectralkit.datasets import _description_series
from spectralkit.datasets._load import Loaded, hand_out, read_arrays


def load_tide(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the hourly water level at Mayport, Florida, in 2017.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A Bunch with the entries

        data : ndarray or DataFrame of shape (8784, 1)
            Time in hours since 1 January 2017, 0:00 UTC.
        target : ndarray or Series of shape (8784,)
            Water level in m.
        inferred : ndarray of bool of shape (8784,)
            True in the 283 hours (3.2 %) where the agency inferred the level because the gauge gave none.
        feature_names : list of str
            Name of the column of ``data``, ``["hour"]``.
        target_names : list of str
            Name of the target, ``["water_level"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: hours and metres, so frequencies are in cycles per hour. The datum of the levels is not stated; their mean is
    -0.08 m. The rows cover 1 January 2017 to the end of 1 January 2018, and no hour is missing. The tide has the period
    12.4206 h (M2, amplitude 0.69 m), and N2 12.658 h (0.15 m), S2 12 h (0.11 m), K1 23.934 h (0.07 m), O1 25.819 h
    (0.05 m) and M4 6.210 h (0.04 m). What is left is the weather; hurricane Irma made the highest level on 11
    September.

    Source: station 8720218 of the National Oceanic and Atmospheric Administration [1]_, as distributed with tappy.
    Licence: work of the United States government, in the public domain. Changes: none to the values; dates given as
    hours; stored in single precision, which keeps every published digit.

    References
    ----------
    .. [1] NOAA Center for Operational Oceanographic Products and Services. Station 8720218, Mayport, Florida: hourly
       heights. https://tidesandcurrents.noaa.gov/stationhome.html?id=8720218

    Examples
    --------
    >>> from spectralkit.datasets import load_tide
    >>> tide = load_tide()
    >>> print(f"{tide.target.min()} to {tide.target.max()} {tide.units['water_level']}, inferred {tide.inferred.sum()}")
    -1.487 to 1.653 m, inferred 283
    """
    arrays = read_arrays("tide_mayport_hourly")
    return hand_out(
        _description_series.TIDE,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        inferred=arrays["inferred"].astype(bool),
    )


def load_sea_temperature(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the half-hourly sea temperature at a buoy in the Gulf of Maine from February 2016 to March 2017.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A Bunch with the entries

        data : ndarray or DataFrame of shape (19226, 1)
            Time in hours since 1 January 2016, 0:00 UTC.
        target : ndarray or Series of shape (19226,)
            Temperature of the sea in degC.
        feature_names : list of str
            Name of the column of ``data``, ``["hour"]``.
        target_names : list of str
            Name of the target, ``["temperature"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: hours and degC, so frequencies are in cycles per hour. The rows are in order of time, half an hour apart but
    for three places: 13:30 on 14 June 2016 is missing, 2:00 to 13:00 on 8 July 2016 are missing (23 rows), and 16:30 on
    21 March 2017 occurs twice, with 4.276 and 4.289 degC. Nothing is filled in. The series is little longer than one
    year, so a yearly line cannot be told from a trend.

    Source: buoy B01 of the Northeastern Regional Association of Coastal Ocean Observing Systems [1]_, as distributed
    with bokeh_sampledata. Licence: free to use and redistribute, not intended for legal use. Changes: sorted by time;
    dates given as hours; stored in single precision, which keeps every published digit.

    References
    ----------
    .. [1] Northeastern Regional Association of Coastal Ocean Observing Systems (NERACOOS). Buoy B01, table
       B01_sbe37_all. http://www.neracoos.org/erddap/info/B01_sbe37_all/index.html

    Examples
    --------
    >>> from spectralkit.datasets import load_sea_temperature
    >>> X, y = load_sea_temperature(return_X_y=True)
    >>> print(f"{y.min():.1f} degC at {X[y.argmin(), 0]} h, {y.max():.1f} degC at {X[y.argmax(), 0]} h")
    3.6 degC at 10644.0 h, 22.1 degC at 5009.0 h
    """
    arrays = read_arrays("sst_buoy_halfhourly")
    return hand_out(
        _description_series.SEA_TEMPERATURE,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def load_temperature_normals(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the air temperature of San Francisco in each hour of a year, averaged over thirty years.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A Bunch with the entries

        data : ndarray or DataFrame of shape (8759, 1)
            Time in hours since 1 January, 0:00 standard time.
        target : ndarray or Series of shape (8759,)
            Temperature in degF.
        feature_names : list of str
            Name of the column of ``data``, ``["hour"]``.
        target_names : list of str
            Name of the target, ``["temperature"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: hours and degF, so frequencies are in cycles per hour. Climate normals of 1981 to 2010, though the file that
    was distributed labels the year 2010: no weather is left in them, and the noise is the rounding to 0.1 degF. The
    daily line grows and shrinks over the year, which puts lines one cycle per year to either side of it. 3:00 on 14
    March, the night of the change to summer time, is missing; the daily course shows no change of the clock.

    Source: hourly normals of the National Oceanic and Atmospheric Administration for station USW00023234, San Francisco
    International Airport [1]_, as distributed with vega_datasets. Licence: work of the United States government, in the
    public domain. Changes: none to the values; dates given as hours; stored in single precision, which keeps every
    published digit.

    References
    ----------
    .. [1] A. Arguez, I. Durre, S. Applequist, R. S. Vose, M. F. Squires, X. Yin, R. R. Heim and T. W. Owen (2012).
       NOAA's 1981-2010 U.S. climate normals: an overview. Bulletin of the American Meteorological Society 93 (11),
       1687-1697.

    Examples
    --------
    >>> from spectralkit.datasets import load_temperature_normals
    >>> X, y = load_temperature_normals(return_X_y=True)
    >>> print(X.shape, f"{y.min()} to {y.max()} degF")
    (8759, 1) 45.6 to 72.2 degF
    """
    arrays = read_arrays("sf_temp_normals_hourly")
    return hand_out(
        _description_series.TEMPERATURE_NORMALS,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
