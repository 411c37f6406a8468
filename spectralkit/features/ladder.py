"""Coordinate encodings: sines and cosines of each column at a ladder of frequencies, as a scikit-learn transformer."""

from __future__ import annotations

import inspect
import math
import numbers
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, check_sample_weight, is_integer
from spectralkit.features._ladder_presets import preset_params
from spectralkit.features._layouts import Layout, as_layout
from spectralkit.maps import encoding
from spectralkit.spectra import Footprint, Ladder
from spectralkit.spectra._sklearn import SpectrumParams

__all__ = ["LadderFeatures", "Layout"]

_UNITS = (1, "pi", "2pi")
_MOST_OCTAVES = 1000  # 2.0**1023 is the largest power of two


class LadderFeatures(SpectrumParams, TransformerMixin, BaseEstimator):
    r"""Coordinate encoding: sines and cosines of each column at the same frequencies, octaves apart by default.

    .. math:: \bigl[x_j,\; \sin 2\pi f_l x_j,\; \cos 2\pi f_l x_j\bigr]_{l<L,\, j<d},
              \qquad f_l = \frac{2^l}{2\pi},\; \frac{2^l}{2} \text{ or } 2^l

    The columns come in the order of the layout. As in the codebases that use them, the waves have amplitude 1: their
    inner products are :math:`\sum_{l,j} \cos 2\pi f_l(x_j - y_j)`, which is the kernel of `spectralkit.Ladder`, of
    which k(0) = 1, times the number L d of waves. `FourierFeatures` has the normalised ones.

    Fitting reads the number of columns only. Whole turns are dropped exactly before sine and cosine, so that high
    octaves are as accurate as low ones, in float32 too; with ``unit=1`` there is an irrational factor, and the error of
    the phase is :math:`2^l |x|` times the rounding of float64.

    Parameters
    ----------
    frequencies : int, array or Ladder, default=10
        How many octaves, from 1 to 1000; or frequencies in cycles per unit of x, shape (L,), that each column meets; or
        oblique ones, shape (m, n_features), that each meet all columns; or a measure with atoms of equal weight.
    unit : {1, "pi", "2pi"}, default="pi"
        The phase of octave l for a unit of x, in multiples of :math:`2^l`. Only for a number of octaves: arrays and
        measures are in cycles.
    include_input : bool, default=True
        Whether the columns of X are among the features.
    layout : str or Layout, default="nerf"
        The order of the output columns: the name of a preset, or a `Layout`.
    window : float, optional
        Progress :math:`\alpha` from 0 to L of the coarse-to-fine window: the waves of level l = 0, 1, ... are
        multiplied by :math:`(1 - \cos \pi\min(\max(\alpha - l, 0), 1))/2`, those of a column of X are not. None is L,
        all of them. `transform` reads it anew each time, so it may be set by `set_params` during training.
    origin : float or array of shape (n_features,), default=0.0
        The point where every phase is zero. It does not move the columns of X that are among the features.
    n_jobs : int, optional
        Number of threads in `transform`, by joblib's convention: None is one, or what ``joblib.parallel_config`` says,
        -1 is all. It does not change a bit of the result.

    Attributes
    ----------
    frequencies_ : ndarray of shape (L,) or (m, n_features)
        The frequencies in cycles per unit of x: one-dimensional if each column meets each of them.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        In `fit`, if X or a parameter is not valid; in `transform`, if X or the window is not, or a phase overflows.
    CapabilityError
        In `fit`, if frequencies is a measure without atoms.

    See Also
    --------
    FourierFeatures : Weighted features of any spectral measure.

    References
    ----------
    B. Mildenhall et al., "NeRF: representing scenes as neural radiance fields for view synthesis", ECCV 2020.
    M. Tancik et al., "Fourier features let networks learn high frequency functions in low dimensional domains",
    NeurIPS 2020.
    C.-H. Lin et al., "BARF: bundle-adjusting neural radiance fields", ICCV 2021 (the window).

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import LadderFeatures
    >>> X = np.array([[0.1, -0.2]])
    >>> encoder = LadderFeatures(2, unit="2pi", include_input=False).fit(X)
    >>> encoder.transform(X).round(3)
    array([[ 0.588, -0.951,  0.809,  0.309,  0.951, -0.588,  0.309, -0.809]])
    >>> encoder.get_feature_names_out().tolist()
    ['x0_sin0', 'x1_sin0', 'x0_cos0', 'x1_cos0', 'x0_sin1', 'x1_sin1', 'x0_cos1', 'x1_cos1']
    """

    _measure_params = ("frequencies",)

    def __init__(
        self,
        frequencies: Any = 10,
        unit: Any = "pi",
        include_input: bool = True,
        layout: str | Layout = "nerf",
        window: float | None = None,
        origin: Any = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.frequencies = frequencies
        self.unit = unit
        self.include_input = include_input
        self.layout = layout
        self.window = window
        self.origin = origin
        self.n_jobs = n_jobs

    @classmethod
    def preset(cls, name: str, **options: Any) -> Self:
        r"""Return the encoding of a public codebase, equal to it column by column.

        ============  =======================  ======================================  =================  ============
        name          phase                    frequencies: options and defaults       columns of X       expected x
        ============  =======================  ======================================  =================  ============
        nerf          :math:`2^l x`            multires=10, log_sampling=True          first              [-1.5, 1.5]
        mipnerf       :math:`2^l x`            max_deg=16, min_deg=0                   no (first)         [-pi, pi]
        nerfstudio    :math:`2\pi 2^e x`       num_frequencies=10, min_freq_exp=0.0,   no (last)          [0, 1]
                                               max_freq_exp=8.0, both ends included
        tcnn          :math:`\pi 2^l x`        n_frequencies=12                        no (last)          [0, 1]
        barf          :math:`\pi 2^l x`        L=10                                    no (first)         not stated
        siren         :math:`\pi 2^l x`        num_frequencies=10, or by Nyquist from  first              [-1, 1]
                                               samples per side, log2(samples / 4)
        perceiver     :math:`\pi f x`          num_bands=6, max_freq=10.0: linear      last of each       [-1, 1]
                                               from 1 to max_freq / 2                  column
        tancik        :math:`2\pi x B`         mapping_size=256, scale=10.0, d=2,      no (last)          [0, 1)
                                               random_state=None, or B (d, m)
        sam           :math:`2\pi (2x - 1) B`  num_pos_feats=64, scale=1.0,            no (last)          [0, 1]
                                               random_state=None, or B (2, m)
        ============  =======================  ======================================  =================  ============

        Where the table says "no", the encoding function of the origin leaves the coordinates out, and in brackets
        stands where the code around it, or ``include_input=True`` here, puts them.

        Parameters
        ----------
        name : str
            The codebase.
        **options : dict
            Options of the origin, by the names in the table, and parameters of the constructor, which come on top.
            A number of `frequencies` takes the place of the first option.

        Returns
        -------
        LadderFeatures
            An unfitted transformer.

        Raises
        ------
        ValueError
            If the name is unknown, or an option is not valid or contradicts another.
        TypeError
            If there is no such option.

        Examples
        --------
        >>> from spectralkit import LadderFeatures
        >>> LadderFeatures.preset("barf", L=2).fit_transform([[0.1, -0.2]]).round(3)
        array([[ 0.309,  0.588,  0.951,  0.809, -0.588, -0.951,  0.809,  0.309]])
        >>> LadderFeatures.preset("nerf", multires=4)
        LadderFeatures(frequencies=4, unit=1)
        """
        return cls(**preset_params(name, options, list(inspect.signature(cls).parameters)))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Read the number of columns and put the output columns in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : object, optional
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows. They are only checked: nothing is learnt from the rows.

        Returns
        -------
        self
            The fitted transformer.
        """
        given, X = X, check_array(X, dtype=FLOATS, estimator=self, input_name="X")
        check_sample_weight(sample_weight, len(X))
        d = X.shape[1]
        frequencies = _frequencies(self.frequencies, self.unit, d)
        origin = _origin(self.origin, d)
        _window_weights(self.window, frequencies)
        if self.include_input not in (True, False):
            raise ValueError(f"include_input must be True or False, got {self.include_input!r}.")
        columns = d if frequencies.ndim == 1 else 1
        order = as_layout(self.layout)._order(len(frequencies), columns, d if self.include_input else 0)
        validate_data(self, given, skip_check_array=True)  # nothing is set before all has succeeded
        self.frequencies_, self._origin, self._order = frequencies, origin, order
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            2 L d columns for a ladder of L frequencies, 2 m for a matrix, and d more with the columns of X. float32 for
            float32 X.
        """
        return self._encoding(X, None)

    def transform_over(self, X: Any, footprint: Footprint) -> np.ndarray:
        """Encode rows by the mean over a footprint; `IntegratedFourierFeatures` is made of this.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, the centres of the footprints.
        footprint : Footprint
            One for all rows, or one for each.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The columns of `transform`: each wave times the damping of the footprint at its frequency, and the columns
            of X as they are.
        """
        return self._encoding(X, footprint)

    def _encoding(self, X: Any, footprint: Footprint | None) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        weights = _window_weights(self.window, self.frequencies_)
        return encoding(X, self.frequencies_, self._order, weights, self._origin, self.n_jobs, footprint)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns, x0, x1, ... unless they had names in `fit`.

        Returns
        -------
        ndarray of str
            Column, function and level, such as ``x0_sin3``; the bare name for a column of X itself; and
            ``ladderfeatures_sin3`` for oblique frequencies, which meet all columns.
        """
        check_is_fitted(self)
        inputs = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        columns = inputs if self.frequencies_.ndim == 1 else [type(self).__name__.lower()]
        levels = range(len(self.frequencies_))
        names = [f"{column}_{kind}{level}" for kind in ("cos", "sin") for level in levels for column in columns]
        return np.array([*names, *inputs], dtype=object)[self._order]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "frequencies_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _frequencies(frequencies: Any, unit: Any, d: int) -> np.ndarray:
    """In cycles per unit: (L,) if each of d columns meets each of them, else (m, d)."""
    if isinstance(unit, bool) or not isinstance(unit, str | numbers.Real) or unit not in _UNITS:
        raise ValueError(f"unit must be 1, 'pi' or '2pi', the phase of x in octave 0, got {unit!r}.")
    is_measure = hasattr(frequencies, "atoms")
    if not is_measure and np.ndim(frequencies) == 0:
        if not is_integer(frequencies, at_least=1) or frequencies > _MOST_OCTAVES:
            raise ValueError(
                f"frequencies must be a number of octaves, an integer from 1 to {_MOST_OCTAVES}, or an array of "
                f"frequencies in cycles per unit, or a Ladder, got {frequencies!r}."
            )
        return Ladder(int(frequencies), unit).atoms(1)[0].ravel()
    if unit != "pi":
        raise ValueError(
            f"unit={unit!r} is for a number of octaves, but frequencies is {'a measure' if is_measure else 'an array'} "
            "in cycles per unit. Leave unit out."
        )
    if is_measure:
        return _atoms(frequencies, d)
    frequencies = _finite(frequencies, "frequencies")
    if frequencies.shape[1:] not in ((), (d,)):
        raise ValueError(
            f"frequencies must have shape (L,), or (m, {d}) as X has {d} column(s), got {frequencies.shape}."
        )
    return frequencies.ravel() if d == 1 else frequencies


def _atoms(measure: Any, d: int) -> np.ndarray:
    """The frequencies of a measure: (L,) if they are the same along each axis, as in a `Ladder`, else (m, d)."""
    frequencies, weights = measure.atoms(d)
    if np.ptp(weights) > 1e-12 * weights.max():  # features of amplitude 1 could not show them
        raise ValueError(
            f"The weights of {measure!r} are not equal, but all features here have amplitude 1. Use "
            "FourierFeatures(spectrum), whose features are weighted."
        )
    rungs = frequencies[::d, 0]
    along_axes = (rungs[:, None, None] * np.eye(d)).reshape(-1, d)
    return rungs.copy() if np.array_equal(along_axes, frequencies) else frequencies


def _finite(values: Any, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype.kind not in "fiu" or not values.size or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite real numbers, at least one, got {values!r}.")
    return values.astype(np.float64)


def _origin(origin: Any, d: int) -> np.ndarray:
    values = _finite(origin, "origin")
    if values.shape not in ((), (d,)):
        raise ValueError(
            f"origin must be one number or one per column: it has shape {values.shape}, but X has {d} column(s)."
        )
    return values


def _window_weights(window: Any, frequencies: np.ndarray) -> np.ndarray:
    """The factor of each level of a coarse-to-fine window, as in BARF."""
    count = len(frequencies)
    if window is None:
        return np.ones(count)
    if frequencies.ndim == 2:
        raise ValueError(
            "window fades levels in from coarse to fine, but a matrix of oblique frequencies has no levels. Use "
            "window=None."
        )
    if not isinstance(window, numbers.Real) or isinstance(window, bool) or not 0 <= float(window) <= count:
        raise ValueError(
            f"window must be None or a number from 0, no wave, to the number of frequencies, {count}, all waves, got "
            f"{window!r}. Clip the schedule to this range."
        )
    return (1 - np.cos(math.pi * np.clip(float(window) - np.arange(count), 0, 1))) / 2
