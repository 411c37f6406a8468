"""Fields over the plane and over the sphere."""

import numpy as np

from spectralkit.datasets import _description
from spectralkit.datasets._load import Loaded, hand_out, read_arrays

_EARTH_RADIUS = 6_371_008.8  # m, mean radius
# The file's own latitudes are one height of the grid too far north: they continue the northern edge upwards instead of
# downwards (see the notes of load_elevation). The edges below put the cells where the mountains are.
_NORTH_EDGE = 36.44625
_WEST_EDGE = -84.41375
_CELLS_PER_DEGREE = 1200
_FOOT = 0.3048  # m


def load_elevation(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    r"""Load heights around the Jacksboro fault, Tennessee, on a fine grid: two coordinates in metres, the elevation.

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

        data : ndarray or DataFrame of shape (138632, 2)
            Coordinates (east, north) in m from the centre of the grid, in the order of ``grid.ravel()``.
        target : ndarray or Series of shape (138632,)
            Elevation in m.
        grid : ndarray of shape (344, 403)
            The elevations on the grid; rows run from north to south, columns from west to east.
        latitude : ndarray of shape (344,)
            Latitude of each row's cell centres in degrees.
        longitude : ndarray of shape (403,)
            Longitude of each column's cell centres in degrees.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["elevation"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: metres throughout, so frequencies are in cycles per metre. With latitude :math:`\phi` and longitude
    :math:`\lambda` in radians, :math:`(\phi_0, \lambda_0)` the centre of the grid and the mean radius of the Earth
    :math:`R = 6\,371\,008.8` m, the coordinates are those of the equirectangular projection,

    .. math:: x_\text{east} = R \cos(\phi_0) (\lambda - \lambda_0), \qquad x_\text{north} = R (\phi - \phi_0),

    which is 92.66 m from row to row and 74.67 m from column to column. Over the 32 km of the grid the length of a
    degree of longitude changes by 0.2 % to either side, which the projection leaves out.

    Source: Shuttle Radar Topography Mission (NASA and USGS) [1]_, 3 arc-seconds, as the sample file
    ``jacksboro_fault_dem`` of matplotlib. Licence: work of the United States government, in the public domain.
    Changes: the latitude axis of the shipped file is one height of the grid (344 cells, 0.2867 degrees) too far north,
    as is the corner in the sample file that it was made from, and both of its axes give edges of cells. ``latitude``
    and ``longitude`` are corrected: they give the cell centres, with the highest cell (1076 m) within 30 m of the
    summit of Cross Mountain at 36.19833 N, 84.23056 W. The heights and ``data`` hardly depend on this: the distance
    between columns would be 0.4 % smaller.

    References
    ----------
    .. [1] T. G. Farr et al. (2007). The Shuttle Radar Topography Mission. Reviews of Geophysics 45, RG2004.
       https://doi.org/10.1029/2005RG000183

    Examples
    --------
    >>> from spectralkit.datasets import load_elevation
    >>> hills = load_elevation()
    >>> print(hills.grid.shape, hills.grid.min(), hills.grid.max())
    (344, 403) 236.0 1076.0
    >>> print((hills.data.max(axis=0) - hills.data.min(axis=0)).round())
    [30020. 31783.]
    """
    heights = read_arrays("dem_jacksboro")["z"]
    n_rows, n_columns = heights.shape
    latitude = _NORTH_EDGE - (np.arange(n_rows) + 0.5) / _CELLS_PER_DEGREE
    longitude = _WEST_EDGE + (np.arange(n_columns) + 0.5) / _CELLS_PER_DEGREE
    centre_latitude = (latitude[0] + latitude[-1]) / 2
    centre_longitude = (longitude[0] + longitude[-1]) / 2
    north = _EARTH_RADIUS * np.radians(latitude - centre_latitude)
    east = _EARTH_RADIUS * np.cos(np.radians(centre_latitude)) * np.radians(longitude - centre_longitude)
    coordinates = np.column_stack([np.tile(east, n_rows), np.repeat(north, n_columns)])
    return hand_out(
        _description.ELEVATION,
        coordinates,
        heights.flatten(),
        return_X_y=return_X_y,
        as_frame=as_frame,
        grid=heights,
        latitude=latitude,
        longitude=longitude,
    )


def load_airports(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the elevation of the airports of the world, scattered over the sphere: latitude, longitude, the elevation.

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

        data : ndarray or DataFrame of shape (28281, 2)
            Latitude and longitude in degrees, north and east positive.
        target : ndarray or Series of shape (28281,)
            Elevation above mean sea level in m; 0 can mean that it is unknown.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["elevation"]``.
        units : dict of str to str
            Unit of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: degrees and metres. Longitudes run from -180 to 180, where the ends meet, and a degree of longitude shrinks
    with the cosine of the latitude. The elevation is that of the highest point of the landing area, in whole feet times
    0.3048. 1400 elevations are exactly 0, and some of these mean that the elevation is unknown: 982 of them are in
    Australia, others lie in the Alps and the Himalayas. The source warns that elevations are often wrong. 44 % of the
    airports are in the United States. The rows are in the order of the airports' codes, so shuffle before splitting.

    Source: M. Borsetti, airportsdata 20260905 [1]_. Licence: MIT, Copyright (c) 2020- Mike Borsetti; it includes data
    from https://github.com/mwgg/Airports, Copyright (c) 2014 mwgg. Changes: positions and elevations only; 17 of the
    28298 entries left out, among them repeated positions; elevations rounded to whole feet; positions stored in single
    precision, which moves them by less than 0.00002 degrees.

    References
    ----------
    .. [1] M. Borsetti (2026). airportsdata, version 20260905. https://github.com/mborsetti/airportsdata

    Examples
    --------
    >>> from spectralkit.datasets import load_airports
    >>> X, y = load_airports(return_X_y=True)
    >>> latitude, longitude = X[y.argmin()]
    >>> print(f"{y.min():.1f} m at {latitude:.2f} N, {longitude:.2f} E, on the Dead Sea")
    -385.9 m at 31.33 N, 35.39 E, on the Dead Sea
    """
    arrays = read_arrays("airports_elevation")
    return hand_out(
        _description.AIRPORTS,
        np.column_stack([arrays["lat"], arrays["lon"]]),
        _FOOT * arrays["elev_ft"],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
