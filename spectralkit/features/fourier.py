"""Fourier features of any spectral measure, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, check_sample_weight
from spectralkit.estimation import resolve
from spectralkit.maps import fourier
from spectralkit.rules import Rule, nodes
from spectralkit.spectra import Footprint, SpectralMeasure
from spectralkit.spectra._sklearn import SpectrumParams, as_spectrum, sigma_of


class FourierFeatures(SpectrumParams, TransformerMixin, BaseEstimator):
    r"""Fourier features: cosines and sines whose inner products approximate, or for atoms equal, a kernel.

    .. math:: z(x) = \bigl[\sqrt{w_j}\cos 2\pi\omega_j\cdot x \;\big|\; \sqrt{w_j}\sin 2\pi\omega_j\cdot x\bigr],
              \qquad z(x)\cdot z(y) \approx k(x - y)

    Frequencies are in cycles per unit of x. The features are weighted already: apply no factor. Every column lies
    between plus and minus :math:`\sqrt{2k(0)/n_{\mathrm{components}}}` for the random rules. Fitting reads the number
    of columns and, where a scale is open, their spread; y is only passed on to templates that read it.

    Parameters
    ----------
    spectrum : str or SpectralMeasure, default="gaussian"
        "gaussian", "matern12", "matern32", "matern52", a template such as ``Matern(nu=2.5)``, or a measure. The
        template ``SpectralMixture(n_mixtures=4)`` is read off the spectrum of y over X. The parameters of a measure are
        parameters of the transformer: ``set_params(spectrum__nu=0.5)``.
    sigma : "auto", float or array of shape (n_features,), default="auto"
        Frequency scale in cycles per unit of x, for a spectrum whose sigma is open; ``lengthscale = 1 / (2 pi sigma)``.
        "auto" is :math:`1/(2\pi\sqrt{d}\,\mathrm{sd}_j)` per column, with 1 in place of a standard deviation of zero.
    n_components : int, optional
        Number of output columns, at least 1. None: 256, or all atoms of an atomic measure. For atoms it is an upper
        limit.
    rule : {"auto", "iid", "qmc", "orthogonal", "simplex", "atoms", "hadamard", "gauss", "grid"} or Rule, default="auto"
        How frequencies are chosen; see `spectralkit.rules.nodes`. "grid" covers the extent of the X seen in `fit`.
    multiplier : float, default=1.0
        Factor on sigma, "auto" or given: the number without a unit to search over.
    random_state : int, RandomState or None, default=None
        Seed of the frequencies, drawn once in `fit`. With one seed the frequencies nest in `n_components` and scale
        with sigma.
    n_jobs : int, optional
        Number of threads in `transform`, by joblib's convention: None is one, or what ``joblib.parallel_config`` says,
        -1 is all. It does not change a bit of the result.

    Attributes
    ----------
    spectrum_ : SpectralMeasure
        The measure, without open parameters.
    sigma_ : float or ndarray of shape (n_features,)
        Its frequency scale, in cycles per unit of x; there only if the measure has a sigma (sums have several).
    nodes_ : Nodes
        Frequencies, weights and phase.
    frequencies_ : ndarray of shape (m, n_features)
        The frequencies of `nodes_`, in cycles per unit of x.
    weights_ : ndarray of shape (m,)
        The weights of `nodes_`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        In `fit`, if X, a scale or `n_components` is not valid, or a scale is given that the spectrum has already.
    CapabilityError
        In `fit`, if the spectrum lacks what the rule requires.

    See Also
    --------
    sklearn.kernel_approximation.RBFSampler : Independent draws of the Gaussian measure, one cosine a column.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    D. J. Sutherland and J. Schneider, "On the error of random Fourier features", UAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from spectralkit import FourierFeatures
    >>> from spectralkit.datasets import load_yacht
    >>> X, y = load_yacht(return_X_y=True)
    >>> model = make_pipeline(FourierFeatures(random_state=0), Ridge()).fit(X, y)
    >>> Z = model[0].transform(X)
    >>> Z.shape, bool(np.allclose((Z**2).sum(axis=1), 1.0))
    ((308, 256), True)
    >>> FourierFeatures(n_components=4).fit(X).get_feature_names_out()
    array(['fourierfeatures_cos0', 'fourierfeatures_cos1',
           'fourierfeatures_sin0', 'fourierfeatures_sin1'], dtype=object)
    """

    def __init__(
        self,
        spectrum: str | SpectralMeasure = "gaussian",
        sigma: Any = "auto",
        n_components: int | None = None,
        rule: str | Rule = "auto",
        multiplier: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.spectrum = spectrum
        self.sigma = sigma
        self.n_components = n_components
        self.rule = rule
        self.multiplier = multiplier
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fill the open scales from the columns of X and draw the frequencies.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points; their columns may have any units.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Targets, for templates that are read off their spectrum; not used by the spectra that can be named.
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows, for the standard deviations behind ``sigma="auto"``.

        Returns
        -------
        self
            The fitted transformer.
        """
        given, X = X, check_array(X, dtype=FLOATS, accept_sparse="csr", estimator=self, input_name="X")
        sample_weight = check_sample_weight(sample_weight, X.shape[0])
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        scale = {"sigma": self.sigma, "multiplier": self.multiplier}
        spectrum = resolve(as_spectrum(self.spectrum), X, y, sample_weight=sample_weight, **scale)
        extent = None if sparse.issparse(X) else np.ptp(X, axis=0)
        chosen = nodes(spectrum, self.n_components, X.shape[1], self.rule, seed, extent)
        validate_data(self, given, skip_check_array=True)  # nothing is set before all has succeeded
        self.spectrum_, self.nodes_ = spectrum, chosen
        self._centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()  # for rounding only
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Map rows to features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Points. The features of sparse rows are dense.

        Returns
        -------
        ndarray of shape (n_samples, nodes_.width)
            The cosines, then the sines, then for an odd width one cosine with a random phase. float32 for float32 X.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS, accept_sparse="csr")
        return fourier(X, self.nodes_, self._centre, self.n_jobs)

    def transform_over(self, X: Any, footprint: Footprint) -> np.ndarray:
        """Map rows to the mean of their features over a footprint; `IntegratedFourierFeatures` is made of this.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, the centres of the footprints.
        footprint : Footprint
            One for all rows, or one for each.

        Returns
        -------
        ndarray of shape (n_samples, nodes_.width)
            The columns of `transform`, each wave times the damping of the footprint at its frequency.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return fourier(X, self.nodes_, self._centre, self.n_jobs, footprint)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns. They are only checked: every feature is a function of all columns.

        Returns
        -------
        ndarray of str
            ``fourierfeatures_cos0``, ..., ``fourierfeatures_sin0``, ...
        """
        check_is_fitted(self)
        if input_features is not None:
            expected = getattr(self, "feature_names_in_", None)
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to the number of columns seen in fit, "
                    f"{self.n_features_in_}, got {len(input_features)}."
                )
            if expected is not None and list(input_features) != list(expected):
                raise ValueError("input_features is not equal to feature_names_in_, the names seen in fit.")
        pairs = self.nodes_.width // 2
        names = [f"{kind}{j}" for kind in ("cos", "sin") for j in range(pairs)]
        names += [f"cos{pairs}"] * (self.nodes_.width % 2)
        return np.array([f"{type(self).__name__.lower()}_{name}" for name in names], dtype=object)

    @property
    def sigma_(self) -> Any:
        """The frequency scale of `spectrum_`."""
        return sigma_of(self.spectrum_)

    @property
    def frequencies_(self) -> np.ndarray:
        """The frequencies of `nodes_`."""
        return self.nodes_.frequencies

    @property
    def weights_(self) -> np.ndarray:
        """The weights of `nodes_`."""
        return self.nodes_.weights

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "nodes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
