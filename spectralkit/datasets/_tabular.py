"""Regression tables from the UCI Machine Learning Repository."""

from typing import Any

from spectralkit.datasets import _description
from spectralkit.datasets._description import Description
from spectralkit.datasets._load import Loaded, hand_out, read_arrays


def _load_table(name: str, description: Description, *, return_X_y: bool, as_frame: bool) -> Loaded:
    arrays = read_arrays(name)
    # Whatever the file holds besides the table belongs to its rows and is handed on under its own name.
    extras: dict[str, Any] = {key: arrays[key] for key in arrays.keys() - {"X", "y", "names"}}
    return hand_out(description, arrays["X"], arrays["y"], return_X_y=return_X_y, as_frame=as_frame, **extras)


def load_power_plant(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the combined cycle power plant data: four hourly means, the electrical output.

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

        data : ndarray or DataFrame of shape (9568, 4)
            The features, float64.
        target : ndarray or Series of shape (9568,)
            Net hourly electrical output PE in MW.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["PE"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: AT ambient temperature in degC, V exhaust vacuum in cmHg, AP ambient pressure in mbar, RH relative
    humidity in %. The rows are in shuffled order, and 41 of them repeat an earlier row.

    Source: P. Tüfekci and H. Kaya, UCI Machine Learning Repository. Licence: CC BY 4.0. Changes: stored in single
    precision, which keeps every published digit. See [1]_ and [2]_.

    References
    ----------
    .. [1] P. Tüfekci and H. Kaya (2014). Combined Cycle Power Plant [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C5002N
    .. [2] P. Tüfekci (2014). Prediction of full load electrical power output of a base load operated combined cycle
       power plant using machine learning methods. International Journal of Electrical Power & Energy Systems 60,
       126-140.

    Examples
    --------
    >>> from spectralkit.datasets import load_power_plant
    >>> plant = load_power_plant()
    >>> plant.feature_names
    ['AT', 'V', 'AP', 'RH']
    >>> print(f"{plant.target.mean():.3f} {plant.units['PE']}")
    454.365 MW
    """
    return _load_table("uci_powerplant", _description.POWER_PLANT, return_X_y=return_X_y, as_frame=as_frame)


def load_airfoil(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the airfoil self-noise data: five settings of a wind tunnel, the sound pressure level.

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

        data : ndarray or DataFrame of shape (1503, 5)
            The features, float64.
        target : ndarray or Series of shape (1503,)
            Sound pressure level in dB.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["sound_pressure_level"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: frequency_hz in Hz, angle_deg (angle of attack) in degrees, chord_m in m, velocity_ms (free stream) in
    m/s, thickness_m (displacement thickness of the suction side) in m. Neighbouring rows belong to one experiment and
    differ in the frequency only, so shuffle before splitting.

    Source: T. Brooks, D. Pope and M. Marcolini (NASA), UCI Machine Learning Repository. Licence: CC BY 4.0.
    Changes: none to the values; the columns were given names. See [1]_ and [2]_.

    References
    ----------
    .. [1] T. Brooks, D. Pope and M. Marcolini (1989). Airfoil Self-Noise [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C5VW2C
    .. [2] T. F. Brooks, D. S. Pope and M. A. Marcolini (1989). Airfoil self-noise and prediction. NASA Reference
       Publication 1218.

    Examples
    --------
    >>> from spectralkit.datasets import load_airfoil
    >>> airfoil = load_airfoil()
    >>> print(f"{airfoil.target[0]:.3f} {airfoil.units['sound_pressure_level']}")
    126.201 dB
    """
    return _load_table("uci_airfoil", _description.AIRFOIL, return_X_y=return_X_y, as_frame=as_frame)


def load_wine_quality(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the wine quality data: eleven laboratory measurements, the score of the tasters.

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

        data : ndarray or DataFrame of shape (6497, 11)
            The features, float64.
        target : ndarray or Series of shape (6497,)
            Quality, a score between 0 and 10 of which the integers 3 to 9 occur.
        red : ndarray of shape (6497,)
            1.0 for the 1599 red wines, 0.0 for the 4898 white ones; not a feature.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["quality"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: g/dm3 for acids, sugar, chlorides and sulphates, mg/dm3 for sulphur dioxide, g/cm3 for the density, % by
    volume for alcohol; pH has none. Many rows are exact copies of one another: group them before a split, or copies
    leak from the training set into the test set.

    Source: P. Cortez et al., UCI Machine Learning Repository. Licence: CC BY 4.0. Changes: red and white wines
    joined, with a mark for the red ones; stored in single precision. See [1]_ and [2]_.

    References
    ----------
    .. [1] P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009). Wine Quality [Dataset]. UCI Machine Learning
       Repository. https://doi.org/10.24432/C56S3T
    .. [2] P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009). Modeling wine preferences by data mining
       from physicochemical properties. Decision Support Systems 47 (4), 547-553.

    Examples
    --------
    >>> from spectralkit.datasets import load_wine_quality
    >>> wine = load_wine_quality()
    >>> print(f"red {wine.target[wine.red == 1].mean():.3f}, white {wine.target[wine.red == 0].mean():.3f}")
    red 5.636, white 5.878
    """
    return _load_table("uci_wine", _description.WINE_QUALITY, return_X_y=return_X_y, as_frame=as_frame)


def load_concrete(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the concrete data: seven ingredients and the age, the compressive strength.

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

        data : ndarray or DataFrame of shape (1030, 8)
            The features, float64.
        target : ndarray or Series of shape (1030,)
            Compressive strength in MPa.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["compressive_strength"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: kg/m3 for the seven ingredients, days for the age. 25 rows repeat an earlier row.

    Source: Prof. I-Cheng Yeh, Department of Information Management, Chung-Hua University, Taiwan; UCI Machine
    Learning Repository. Licence: CC BY 4.0; the donor asks that the notice of Prof. I-Cheng Yeh and the citation stay
    with the data. Changes: none to the values; the names of the columns were shortened. See [1]_ and [2]_.

    References
    ----------
    .. [1] I-C. Yeh (1998). Concrete Compressive Strength [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C5PK67
    .. [2] I-C. Yeh (1998). Modeling of strength of high-performance concrete using artificial neural networks. Cement
       and Concrete Research 28 (12), 1797-1808.

    Examples
    --------
    >>> from spectralkit.datasets import load_concrete
    >>> X, y = load_concrete(return_X_y=True)
    >>> print(X.shape, f"{y.mean():.2f} MPa")
    (1030, 8) 35.82 MPa
    """
    return _load_table("uci_concrete", _description.CONCRETE, return_X_y=return_X_y, as_frame=as_frame)


def load_yacht(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the yacht data: five numbers of the hull and the Froude number, the residuary resistance.

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

        data : ndarray or DataFrame of shape (308, 6)
            The features, float64.
        target : ndarray or Series of shape (308,)
            Residuary resistance per unit weight of displacement, as published.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["residuary_resistance"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: all columns are dimensionless. Towing-tank tests of 22 hulls, each at the same 14 Froude numbers: rows of
    one hull differ in the Froude number only, so a random split leaves no hull unseen.

    Source: J. Gerritsma, R. Onnink and A. Versluis (Delft Ship Hydromechanics Laboratory), UCI Machine Learning
    Repository. Licence: CC BY 4.0. Changes: none to the values; the columns were given names. See [1]_.

    References
    ----------
    .. [1] J. Gerritsma, R. Onnink and A. Versluis (1981). Yacht Hydrodynamics [Dataset]. UCI Machine Learning
       Repository. https://doi.org/10.24432/C5XG7R

    Examples
    --------
    >>> from spectralkit.datasets import load_yacht
    >>> X, y = load_yacht(return_X_y=True)
    >>> print(X.shape, y.max())
    (308, 6) 62.42
    """
    return _load_table("uci_yacht", _description.YACHT, return_X_y=return_X_y, as_frame=as_frame)


def load_bike_share(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the bike sharing data: calendar and weather of each hour of 2011, the number of rentals.

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

        data : ndarray or DataFrame of shape (8645, 12)
            The features, float64.
        target : ndarray or Series of shape (8645,)
            Bicycles rented in the hour, a count.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["rentals"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: integer codes for the calendar (day is the day of the year, weekday 0 is Sunday) and for the weather
    (weathersit 1 clear to 4 heavy rain or snow); temp is (t + 8) / 47 with t in degC, atemp (t + 16) / 66 with the felt
    temperature, hum the relative humidity as a fraction, windspeed divided by 67. The rows are in order of time, and
    115 of the 8760 hours of the year have no row.

    Source: H. Fanaee-T and J. Gama, UCI Machine Learning Repository. Licence: CC BY 4.0. Changes: the year 2011 only;
    counts of casual and registered users left out; months and weather as integers instead of words; stored in single
    precision. See [1]_ and [2]_.

    References
    ----------
    .. [1] H. Fanaee-T (2013). Bike Sharing [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C5W894
    .. [2] H. Fanaee-T and J. Gama (2014). Event labeling combining ensemble detectors and background knowledge.
       Progress in Artificial Intelligence 2, 113-127.

    Examples
    --------
    >>> from spectralkit.datasets import load_bike_share
    >>> bikes = load_bike_share()
    >>> hour = bikes.data[:, bikes.feature_names.index("hr")]
    >>> print(f"{bikes.target[hour == 4].mean():.1f} at 4 h, {bikes.target[hour == 17].mean():.1f} at 17 h")
    5.4 at 4 h, 349.7 at 17 h
    """
    return _load_table("bikeshare_2011", _description.BIKE_SHARE, return_X_y=return_X_y, as_frame=as_frame)
