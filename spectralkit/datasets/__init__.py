"""Small real data sets that ship with the package: tables, fields over the plane and the sphere, and series.

Every loader reads a file inside the package (nothing is downloaded) and returns fresh arrays at each call. The units,
the source, the licence and the changes of a data set are in its ``DESCR``.
"""

from spectralkit.datasets._astronomy import load_light_curve, load_radial_velocity, load_sunspots
from spectralkit.datasets._classification import load_letters
from spectralkit.datasets._geophysical import load_sea_temperature, load_temperature_normals, load_tide
from spectralkit.datasets._series import load_airline, load_co2, load_electricity
from spectralkit.datasets._spatial import load_airports, load_elevation
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
    "load_airports",
    "load_bike_share",
    "load_co2",
    "load_concrete",
    "load_electricity",
    "load_elevation",
    "load_letters",
    "load_light_curve",
    "load_power_plant",
    "load_radial_velocity",
    "load_sea_temperature",
    "load_sunspots",
    "load_temperature_normals",
    "load_tide",
    "load_wine_quality",
    "load_yacht",
]
