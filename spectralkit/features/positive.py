"""Positive random features of the Gaussian and the softmax kernel, as a scikit-learn transformer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._parallel import for_row_blocks
from spectralkit._validation import FLOATS, check_sample_weight, is_integer, is_positive_number
from spectralkit.estimation import resolve
from spectralkit.features._positive_error import (
    MOST_COLUMNS,
    RelativeVariance,
    columns_for,
    mean_z,
    moments,
    optimal_tilt,
    typical_error,
)
from spectralkit.maps import log_positive, positive
from spectralkit.rules import RULES, nodes
from spectralkit.rules._base import DEFAULT_COMPONENTS
from spectralkit.spectra import CapabilityError, Gaussian, SpectralMeasure
from spectralkit.spectra._sklearn import SPECTRA_BY_NAME, SpectrumParams, as_spectrum, sigma_of

_VARIANTS = ("optimal", "hyperbolic", "positive")
_COUPLINGS = ("simplex", "orthogonal", "iid")
_PAIRS_PER_BLOCK = 1 << 16
_HOPELESS, _USEFUL = 0.5, 0.1  # relative errors: above the first `fit` warns, and names the width for the second


class ApproximationWarning(UserWarning):
    """Features were fitted whose predicted error is too large for them to stand in for their kernel.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from spectralkit import ApproximationWarning, PositiveRandomFeatures
    >>> X = 10 * np.random.default_rng(0).normal(size=(100, 16))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ApproximationWarning)
    ...     model = PositiveRandomFeatures("softmax").fit(X)
    >>> caught[0].category.__name__, model.predicted_error_ > 0.5
    ('ApproximationWarning', True)
    """


class PositiveRandomFeatures(SpectrumParams, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Positive random features: exponentials whose inner products approximate a kernel and are never negative.

    .. math:: \phi_j(x) = \sqrt{w_j}\, e^{2\pi\,\omega_j\cdot(x - c)} / \sqrt{M(2(x - c))},
              \qquad \phi(x)\cdot\phi(y) \approx k(x, y) = \frac{\mu\, M(x + y - 2c)}{\sqrt{M(2(x - c))\, M(2(y - c))}}

    with M the moment generating function of the spectral measure divided by its mass :math:`\mu`, and the mean c of the
    X seen in `fit`. For a Gaussian measure k is its stationary kernel, whatever c. The softmax kernel is the Gaussian
    one times :math:`e^{|x|^2/2T} e^{|y|^2/2T}`, and the features take these factors. Estimates are unbiased; their
    relative error grows exponentially with the length of x + y - 2c, which is why c is the mean. The error is known in
    closed form, `relative_variance`, and `fit` warns where it is hopeless.

    Parameters
    ----------
    kernel : {"gaussian", "softmax"} or SpectralMeasure, default="gaussian"
        "gaussian": :math:`\exp(-2\pi^2\sum_j \sigma_j^2 (x_j - y_j)^2)`. "softmax": :math:`\exp(x\cdot y / T)`. Or a
        template or measure with a moment generating function; unless Gaussian its k depends on c, and it needs another
        variant. Its parameters are parameters of the transformer: ``set_params(kernel__sigma=0.5)``.
    sigma : "auto", float or array of shape (n_features,), default="auto"
        Frequency scale in cycles per unit of x, for a measure whose sigma is open, as in `FourierFeatures`:
        ``lengthscale = 1 / (2 pi sigma)``. "auto" is :math:`1/(2\pi\sqrt{d}\,\mathrm{sd}_j)` per column.
    temperature : float, optional
        T of the softmax kernel; None: :math:`\sqrt{d}`.
    n_components : int, optional
        Number of output columns, at least 1; None: 256.
    variant : {"optimal", "hyperbolic", "positive"}, default="optimal"
        "optimal" draws from a wider Gaussian and weights the draws, with the least variance at the mean squared length
        of x + y - 2c over pairs of rows. "hyperbolic" follows each frequency by its negative. "positive" does neither.
    rule : {"simplex", "orthogonal", "iid"}, default="simplex"
        Directions of the frequencies in blocks of d; see `spectralkit.rules`.
    multiplier : float, default=1.0
        Factor on sigma, "auto" or given.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies, drawn once in `fit`; with one seed they nest in `n_components`.
    n_jobs : int, optional
        Number of threads in `transform`, by joblib's convention: None is one, or what ``joblib.parallel_config`` says,
        -1 is all. It does not change a bit of the result.

    Attributes
    ----------
    spectrum_ : SpectralMeasure
        The measure, without open parameters; Gaussian for the softmax kernel.
    sigma_ : float or ndarray of shape (n_features,)
        Its frequency scale, in cycles per unit of x; there only if the measure has a sigma. For the softmax kernel
        :math:`1/(2\pi\sqrt{T})`.
    temperature_ : float or None
        T of the softmax kernel; None for others.
    frequencies_ : ndarray of shape (n_components, n_features)
        In cycles per unit of x.
    log_weights_ : ndarray of shape (n_components,)
        Logarithms of the weights w.
    centre_ : ndarray of shape (n_features,)
        The point c.
    tilt_ : float
        A of the optimal variant, at most 0: it draws from a Gaussian :math:`\sqrt{1 - 4A}` times as wide. 0 for others.
    predicted_error_ : float
        Relative error, standard deviation over k, of a typical kernel value: the root of the median of
        `relative_variance` over 512 pairs of rows, both evenly spaced. For measures that are not Gaussian it is that of
        independent draws, whatever the rule.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        In `fit`, if X or a parameter is not valid; in `transform`, if a feature is too large for the dtype of X.
    CapabilityError
        In `fit`, if the measure lacks what the kernel, the variant or the rule requires.

    Warns
    -----
    ApproximationWarning
        In `fit`, if `predicted_error_` exceeds 0.5, with the number of columns that would bring it down to 0.1.

    See Also
    --------
    FourierFeatures : For stationary kernels, unless positive values are needed: its error is bounded.

    References
    ----------
    K. Choromanski et al., "Rethinking attention with performers", ICLR 2021.
    V. Likhosherstov et al., "Chefs' random tables: non-trigonometric random features", NeurIPS 2022.
    I. Reid, K. Choromanski, V. Likhosherstov and A. Weller, "Simplex random features", ICML 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import PositiveRandomFeatures
    >>> X = np.random.default_rng(0).normal(size=(100, 16))
    >>> features = PositiveRandomFeatures("softmax", n_components=2048, random_state=0).fit(X)
    >>> Z = features.transform(X)
    >>> bool((Z > 0).all()), round(features.predicted_error_, 3)
    (True, 0.211)
    >>> ratio = Z @ Z.T / np.exp(X @ X.T / 4.0)  # the temperature is sqrt(16)
    >>> (float(np.median(np.abs(ratio - 1))) < 2 * features.predicted_error_)
    True
    """

    _measure_params = ("kernel",)

    def __init__(
        self,
        kernel: str | SpectralMeasure = "gaussian",
        sigma: Any = "auto",
        temperature: float | None = None,
        n_components: int | None = None,
        variant: str = "optimal",
        rule: Any = "simplex",
        multiplier: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.temperature = temperature
        self.n_components = n_components
        self.variant = variant
        self.rule = rule
        self.multiplier = multiplier
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fill the open scales from the columns of X, centre, and draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; their columns may have any units.
        y : array-like of shape (n_samples,), optional
            Targets; only passed on to templates that read them.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows.

        Returns
        -------
        self
            The fitted transformer.
        """
        given, X = X, check_array(X, dtype=FLOATS, estimator=self, input_name="X")
        sample_weight = check_sample_weight(sample_weight, len(X))
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        m, coupling = self._checked_options()
        spectrum, temperature = self._measure(X, y, sample_weight)
        self._check_capabilities(spectrum, X.shape[1], coupling)
        centre = np.average(X.astype(np.float64, copy=False), axis=0, weights=sample_weight)
        near, paired = X - centre, self.variant == "hyperbolic"
        tilt = optimal_tilt(mean_z(spectrum, near, sample_weight) / len(centre)) if self.variant == "optimal" else 0.0
        frequencies, log_weights = _draw(spectrum, len(centre), m, coupling, paired, tilt, seed)
        error = typical_error(
            RelativeVariance.of(spectrum, len(centre), coupling, paired), spectrum, near, sample_weight, tilt
        )
        if error(m) > _HOPELESS:
            warnings.warn(self._warning(error, m), ApproximationWarning, stacklevel=2)
        validate_data(self, given, skip_check_array=True)  # nothing is set before all has succeeded
        self.spectrum_, self.temperature_, self.centre_, self.tilt_ = spectrum, temperature, centre, tilt
        self.frequencies_, self.log_weights_ = frequencies, log_weights
        self.predicted_error_ = error(m)
        self._fitted_coupling, self._fitted_paired = coupling, paired
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Map rows to positive features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Features; zero where they are too small for the dtype. float32 for float32 X, and then right to about 1e-7
            of themselves for each unit of their exponent.

        Raises
        ------
        ValueError
            If a feature is too large for the dtype of X.
        """
        return positive(*self._arguments(X))

    def log_transform(self, X: Any) -> np.ndarray:
        """Map rows to the logarithms of their features, which neither overflow nor vanish.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Logarithms of what `transform` returns.
        """
        return log_positive(*self._arguments(X))

    def relative_variance(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the variance over draws of the estimates ``transform(X) @ transform(Y).T``, over ``k(X, Y)**2``.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Points.
        Y : array-like of shape (n_samples_Y, n_features), optional
            Points; X if None.

        Returns
        -------
        ndarray of shape (n_samples_X, n_samples_Y)
            From the closed form; its square root is the relative error. Infinite where it exceeds the largest float.

        Raises
        ------
        CapabilityError
            If there is no closed form: for measures that are not Gaussian with a rule other than "iid".
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64) - self.centre_
        Y = X if Y is None else validate_data(self, Y, reset=False, dtype=np.float64) - self.centre_
        error = RelativeVariance.of(self.spectrum_, X.shape[1], self._fitted_coupling, self._fitted_paired)
        if error.coupling != self._fitted_coupling and X.shape[1] > 1:
            raise CapabilityError(
                f"{self.spectrum_!r} has no closed form of the variance with rule={self._fitted_coupling!r}: it is not "
                "Gaussian. Use rule='iid' instead."
            )
        out = np.empty((len(X), len(Y)))

        def write(rows: slice) -> None:
            each = [moments(self.spectrum_, x + Y, self.tilt_) for x in X[rows]]
            z, log_second = (np.stack(values) for values in zip(*each, strict=True))
            out[rows] = error.by_width(z, log_second)(len(self.log_weights_))

        for_row_blocks(write, len(X), max(1, _PAIRS_PER_BLOCK // len(Y)), self.n_jobs)
        return out

    @property
    def sigma_(self) -> Any:
        """The frequency scale of `spectrum_`."""
        return sigma_of(self.spectrum_)

    @property
    def _n_features_out(self) -> int:
        return len(self.log_weights_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "frequencies_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _arguments(self, X: Any) -> tuple:
        """Those of the maps."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return X, self.frequencies_, self.log_weights_, self.centre_, self._log_scale, self.n_jobs

    def _log_scale(self, near: np.ndarray) -> np.ndarray:
        """What a row adds to its exponents, from its distance to the centre."""
        log_scale = (math.log(float(self.spectrum_.mass)) - self.spectrum_.log_mgf(2 * near)) / 2
        if self.temperature_ is not None:
            log_scale += ((near + self.centre_) ** 2).sum(-1) / (2 * self.temperature_)
        return log_scale

    def _checked_options(self) -> tuple[int, str]:
        """The number of columns and the name of the rule."""
        m = DEFAULT_COMPONENTS if self.n_components is None else self.n_components
        if not is_integer(m, at_least=1):
            raise ValueError(f"n_components must be an integer of at least 1, got {m!r}.")
        if not isinstance(self.variant, str) or self.variant not in _VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(map(repr, _VARIANTS))}, got {self.variant!r}.")
        for name in _COUPLINGS:
            if self.rule in (name, RULES[name]):
                return int(m), name
        raise ValueError(f"rule must be one of {', '.join(map(repr, _COUPLINGS))}, got {self.rule!r}.")

    def _measure(self, X: np.ndarray, y: Any, sample_weight: np.ndarray | None) -> tuple[SpectralMeasure, float | None]:
        """The measure without open parameters, and the temperature of the softmax kernel."""
        is_name = isinstance(self.kernel, str)
        if is_name and self.kernel == "softmax":
            if not (isinstance(self.sigma, str) and self.sigma == "auto" and self.multiplier == 1.0):
                raise ValueError(
                    f"kernel='softmax' has a temperature in place of a scale, but sigma={self.sigma!r} and "
                    f"multiplier={self.multiplier!r} were given. Leave them at their defaults and set temperature."
                )
            temperature = math.sqrt(X.shape[1]) if self.temperature is None else self.temperature
            if not is_positive_number(temperature):
                raise ValueError(f"temperature must be None or a positive finite number, got {temperature!r}.")
            return Gaussian(1 / (2 * math.pi * math.sqrt(temperature))), float(temperature)
        if self.temperature is not None:
            raise ValueError(
                f"temperature={self.temperature!r} is for kernel='softmax', but kernel={self.kernel!r}. Leave it out, "
                "or set sigma."
            )
        if is_name and self.kernel not in SPECTRA_BY_NAME:
            raise ValueError(
                f"kernel must be 'gaussian', 'softmax', or a template or measure with a moment generating function, "
                f"got {self.kernel!r}."
            )
        template = as_spectrum(self.kernel, "kernel")
        scale = {"sigma": self.sigma, "multiplier": self.multiplier}
        return resolve(template, X, y, sample_weight=sample_weight, **scale), None

    def _check_capabilities(self, spectrum: SpectralMeasure, d: int, coupling: str) -> None:
        spectrum.require("mgf", "transport", d=d)
        if self.variant == "optimal":
            spectrum.require("gaussian", d=d)
        if coupling != "iid" and not spectrum.capabilities(d) & {"polar", "gaussian"}:
            raise CapabilityError(
                f"{spectrum!r} has no polar in {d} column(s), which rule={coupling!r} needs. Use rule='iid' instead."
            )

    def _warning(self, error: Callable[[int], float], m: int) -> str:
        needed = columns_for(_USEFUL, error)
        width = (
            f"would take {needed:,} columns" if needed <= MOST_COLUMNS else f"takes more than {MOST_COLUMNS:,} columns"
        )
        remedy = "a higher temperature" if self.kernel == "softmax" else "a smaller sigma, or FourierFeatures"
        return (
            f"A typical kernel value estimated from {m} positive features has a relative error of "
            f"{100 * error(m):.3g} %; {100 * _USEFUL:.0f} % {width}. Use {remedy}, or the exact kernel."
        )


def _draw(
    spectrum: SpectralMeasure, d: int, m: int, coupling: str, paired: bool, tilt: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (m, d), and the logarithms (m,) of weights that make up for the wider Gaussian drawn from."""
    source = target = spectrum
    if "gaussian" in spectrum.capabilities(d):
        sigma = spectrum.gaussian_sigma(d)
        source, target = Gaussian(sigma * math.sqrt(1 - 4 * tilt)), Gaussian(sigma)
    count = (m + 1) // 2 if paired else m
    frequencies = nodes(source, 2 * count, d, coupling, seed).frequencies  # a node of a rule stands for two columns
    log_weights = np.full(m, math.log(float(spectrum.mass) / m))
    if paired:
        frequencies = np.stack([frequencies, -frequencies], axis=1).reshape(-1, d)[:m]
    if tilt:
        log_weights += target.log_density(frequencies) - source.log_density(frequencies)
    return frequencies, log_weights
