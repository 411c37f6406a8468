"""Time series of the Sun and other stars: one feature, the time."""

import numpy as np

from spectralkit.datasets import _description_series
from spectralkit.datasets._load import Loaded, hand_out, read_arrays

_INSTRUMENTS = ("HIRES before August 2004", "HIRES since August 2004", "APF")


def load_sunspots(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the monthly sunspot numbers from 1749 to 2009.

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

        data : ndarray or DataFrame of shape (3126, 1)
            Time in years.
        target : ndarray or Series of shape (3126,)
            Mean sunspot number of the month.
        feature_names : list of str
            Name of the column of ``data``, ``["year"]``.
        target_names : list of str
            Name of the target, ``["sunspots"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: years, so frequencies are in cycles per year; the sunspot number is dimensionless. The time is the middle of
    the month, ``year + (month - 0.5) / 12``, from January 1749 to June 2009, and no month is missing. February 1824 is
    interpolated, and the values after December 2008 are preliminary. The cycle of about 11 years varies in height and
    length, and the noise grows with the level; 66 months have the value 0.

    Source: National Geophysical Data Center (NOAA) [1]_, as distributed with statsmodels. Licence: public domain.
    Changes: the table of years and months made one series; months given as decimal years; stored in single precision,
    which keeps every published digit.

    References
    ----------
    .. [1] National Geophysical Data Center (NOAA). Sunspot numbers. http://www.ngdc.noaa.gov/stp/solar/solarda3.html

    Examples
    --------
    >>> from spectralkit.datasets import load_sunspots
    >>> X, y = load_sunspots(return_X_y=True)
    >>> print(f"{y.max()} at {X[y.argmax(), 0]:.3f}")
    253.8 at 1957.792
    """
    arrays = read_arrays("sunspots_monthly")
    return hand_out(
        _description_series.SUNSPOTS,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def load_radial_velocity(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the radial velocity of the star HD 164922: irregular times, three instruments, known noise.

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

        data : ndarray or DataFrame of shape (401, 1)
            Time in days, the Julian date minus 2450000.
        target : ndarray or Series of shape (401,)
            Velocity of the star along the line of sight in m/s, up to a constant for each instrument.
        noise_std : ndarray of shape (401,)
            Standard deviation of the noise of each velocity in m/s, as published; the unrest of the star comes on top.
        instrument : ndarray of int of shape (401,)
            Which instrument measured, an index into ``instrument_names``.
        instrument_names : list of str
            Names of the three instruments; inferred from the codes k, j and a of the source.
        feature_names : list of str
            Name of the column of ``data``, ``["day"]``.
        target_names : list of str
            Name of the target, ``["radial_velocity"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: days and m/s, so frequencies are in cycles per day. The zero points of the three instruments differ by
    unknown offsets, so a model needs a constant for each, fitted along with the rest: taking away the mean of each
    instrument would take a tenth of the larger signal with it. Two planets move the star, as published with 1201 d and
    7.2 m/s, and with 75.8 d and 2.2 m/s; around them a scatter of 3.0 m/s is left, where ``noise_std`` is 1.3 m/s in
    the mean. The rows are in order of time, with several in many nights, and two times occur twice: 5880.7545477 with
    two velocities, 7115.8485563 with the same velocity.

    Source: B. J. Fulton et al. [1]_, as distributed with radvel [2]_. Licence: MIT, Copyright (c) 2016-2017 Benjamin J.
    Fulton, Erik A. Petigura, Sarah Blunt, and contributors. Changes: 2450000 subtracted from the Julian dates; the
    codes of the instruments given as integers; the activity index left out.

    References
    ----------
    .. [1] B. J. Fulton, A. W. Howard, L. M. Weiss et al. (2016). Three temperate Neptunes orbiting nearby stars. The
       Astrophysical Journal 830, 46. https://doi.org/10.3847/0004-637X/830/1/46
    .. [2] B. J. Fulton, E. A. Petigura, S. Blunt and E. Sinukoff (2018). RadVel: the radial velocity modeling toolkit.
       Publications of the Astronomical Society of the Pacific 130, 044504.

    Examples
    --------
    >>> from spectralkit.datasets import load_radial_velocity
    >>> star = load_radial_velocity()
    >>> for index, name in enumerate(star.instrument_names):
    ...     print(name, (star.instrument == index).sum())
    HIRES before August 2004 52
    HIRES since August 2004 276
    APF 73
    """
    arrays = read_arrays("rv_hd164922")
    # Seven decimals are published; the subtraction of 2450000 left rounding errors behind them.
    return hand_out(
        _description_series.RADIAL_VELOCITY,
        arrays["t"].round(7)[:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        noise_std=arrays["yerr"],
        instrument=arrays["instrument"].astype(int),
        instrument_names=list(_INSTRUMENTS),
    )


def load_light_curve(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the brightness of the star KIC 1430163 in two quarters of the Kepler mission: a long gap, known noise.

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

        data : ndarray or DataFrame of shape (6329, 1)
            Time in days, the barycentric Julian date minus 2454833.
        target : ndarray or Series of shape (6329,)
            Brightness in parts per million, relative to the median of the quarter.
        noise_std : ndarray of shape (6329,)
            Standard deviation of the noise of each value in ppm, as the mission states it.
        quarter : ndarray of int of shape (6329,)
            Quarter of the mission, 7 or 15.
        feature_names : list of str
            Name of the column of ``data``, ``["day"]``.
        target_names : list of str
            Name of the target, ``["flux"]``.
        units : dict of str to str
            Unit of the time and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Time and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: days and ppm, so frequencies are in cycles per day. Spots on the rotating star come and go, so the power at
    periods of 3.5 to 4.6 d is broad and no line. The rows are in order of time, 29.4 minutes apart where nothing is
    missing; between the quarters lies a gap of 654 d, inside them gaps of up to 5.7 d. Each quarter was divided by its
    own median: changes slower than a quarter are lost, and the level of one quarter says nothing about that of the
    other. ``noise_std`` is 19 ppm throughout, the scatter from one value to the next is 33 ppm.

    Source: Kepler mission of NASA [1]_, as distributed with the source of celerite [2]_. Licence: public domain.
    Changes: the flux PDCSAP_FLUX where SAP_QUALITY is 0; divided by the median of its quarter, minus one, in ppm; flux
    and its standard deviation stored in single precision.

    References
    ----------
    .. [1] W. J. Borucki et al. (2010). Kepler planet-detection mission: introduction and first results. Science 327,
       977-980.
    .. [2] D. Foreman-Mackey, E. Agol, S. Ambikasaran and R. Angus (2017). Fast and scalable Gaussian process modeling
       with applications to astronomical time series. The Astronomical Journal 154, 220.

    Examples
    --------
    >>> from spectralkit.datasets import load_light_curve
    >>> star = load_light_curve()
    >>> for quarter in (7, 15):
    ...     day = star.data[star.quarter == quarter, 0]
    ...     print(f"quarter {quarter}: {day.size} values from {day.min():.1f} to {day.max():.1f} d")
    quarter 7: 3024 values from 630.2 to 719.5 d
    quarter 15: 3305 values from 1373.7 to 1471.1 d
    """
    arrays = read_arrays("kepler_kic1430163")
    return hand_out(
        _description_series.LIGHT_CURVE,
        arrays["t"][:, np.newaxis],
        arrays["y"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        noise_std=arrays["yerr"],
        quarter=arrays["quarter"].astype(int),
    )
