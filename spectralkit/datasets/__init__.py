"""Small real data sets that ship with the package: tables, a field over the plane, and time series.

Every loader reads a file inside the package (nothing is downloaded) and returns fresh arrays at each call. The units,
the source, the licence and the changes of a data set are in its ``DESCR``.
"""

from spectralkit.datasets._series import load_airline, load_co2
from spectralkit.datasets._spatial import load_elevation
from spectralkit.datasets._tabular import (
    load_airfoil,
    load_bike_share,
    load_concrete,
    load_power_plant,
    load_wine_quality,
    load_yacht,
)

__all__ = [
    "load_airfoil",
    "load_airline",
    "load_bike_share",
    "load_co2",
    "load_concrete",
    "load_elevation",
    "load_power_plant",
    "load_wine_quality",
    "load_yacht",
]
