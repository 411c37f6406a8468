"""Anti-aliased features: the mean of Fourier or ladder features over a footprint around each row."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralkit._validation import FLOATS, check_sample_weight, is_integer, is_positive_number
from spectralkit.features.fourier import FourierFeatures
from spectralkit.spectra import Footprint
from spectralkit.spectra.footprint import as_numbers, cell_width, check_footprint

__all__ = ["IntegratedFourierFeatures"]


class IntegratedFourierFeatures(TransformerMixin, BaseEstimator):
    r"""Anti-aliased features: the exact mean of Fourier or ladder features over a footprint around each row.

    .. math:: \bar z(x) = E\bigl[z(x + \delta)\bigr], \qquad
              E\bigl[\cos 2\pi\omega\cdot(x + \delta)\bigr] = \varphi(\omega)\cos 2\pi\omega\cdot x

    A row that stands for a pixel, a cell, an interval or a piece of a ray does not show what varies faster than its
    footprint. The mean of a wave is the wave times the characteristic function :math:`\varphi` of the footprint:
    frequencies that the footprint resolves are kept, others fade. A linear model on these features predicts the mean of
    its function over the footprint, exactly; columns of X among the features are their own means.

    ==========  ====================================  ================================================
    footprint   width                                 :math:`\varphi(\omega)`
    ==========  ====================================  ================================================
    gaussian    standard deviation, or a covariance   :math:`\exp(-2\pi^2\omega^\top\Sigma\,\omega)`
    box         full side                             :math:`\prod_j \sin(\pi w_j\omega_j)/(\pi w_j\omega_j)`
    disc        radius, in two columns                :math:`2 J_1(u)/u,\; u = 2\pi w|\omega|`
    ball        radius                                :math:`3(\sin u - u\cos u)/u^3` in three columns
    ==========  ====================================  ================================================

    Parameters
    ----------
    features : FourierFeatures or LadderFeatures, optional
        The inner features, or any transformer with a method ``transform_over(X, footprint)``. None is
        ``FourierFeatures(random_state=0)``.
    footprint : {"gaussian", "box", "disc", "ball"}, default="gaussian"
        The shape.
    width : float, array of shape (n_features,), "columns" or "local", default="local"
        A number is the width for all rows, in the unit of X; an array has one for each column. "columns": the trailing
        columns of X hold the widths of their row, which is how widths pass through pipelines and model selection.
        "local": the spacing of the training points around each row, see Notes. Widths of single rows can be given to
        `fit` and `transform` instead.
    n_width_columns : int, default=1
        How many trailing columns hold the footprint for ``width="columns"``: 1, the same in all directions; d, one for
        each of the d other columns; or d (d + 1)/2 for "gaussian", the upper triangle of its covariance, row by row.
    n_neighbors : int, optional
        For "local": which nearest training point measures the spacing. None is 2 d + 1, a point and its neighbours on a
        grid.
    multiplier : float, default=1.0
        Factor on every width, whatever its source: the number without a unit to search over.

    Attributes
    ----------
    features_ : estimator
        The fitted inner features.
    n_features_in_ : int
        Number of columns seen in `fit`, those that hold widths included.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen in `fit`, where X had names that are all strings.

    Raises
    ------
    ValueError
        If X, a parameter or a width is not valid; in `transform`, if `fit` was given the widths of its rows and
        `transform` is not.

    See Also
    --------
    spectralkit.rays : Conical frustums, cylinders and contracted scenes as Gaussians.

    Notes
    -----
    "local" estimates the spacing of the training points around x as :math:`R_k(x) (V_d/k)^{1/d}`, where :math:`R_k` is
    the Euclidean distance to the k-th nearest distinct training point, x itself counted if it is one, and :math:`V_d`
    the volume of the unit ball. The footprint has the variance of a cell of this side, 1/12 of its square along each
    axis. Distances are taken in the units of X: bring columns of different units to a common one first.

    References
    ----------
    J. T. Barron et al., "Mip-NeRF: a multiscale representation for anti-aliasing neural radiance fields", ICCV 2021.
    M. Dippé and E. Wold, "Antialiasing through stochastic sampling", SIGGRAPH 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import IntegratedFourierFeatures, LadderFeatures
    >>> ladder = LadderFeatures(3, unit="2pi", include_input=False)
    >>> pixels = IntegratedFourierFeatures(ladder, footprint="box", width=0.5).fit([[0.0], [0.25]])
    >>> pixels.transform([[0.25]]).round(3) + 0.0  # a wave of period 0.5 averages to nothing
    array([[0.637, 0.   , 0.   , 0.   , 0.   , 0.   ]])
    >>> pixels.transform([[0.25]], width=[0.0]).round(3) + 0.0
    array([[ 1.,  0.,  0., -1.,  0.,  1.]])
    """

    def __init__(
        self,
        features: Any = None,
        footprint: str = "gaussian",
        width: Any = "local",
        n_width_columns: int = 1,
        n_neighbors: int | None = None,
        multiplier: float = 1.0,
    ) -> None:
        self.features = features
        self.footprint = footprint
        self.width = width
        self.n_width_columns = n_width_columns
        self.n_neighbors = n_neighbors
        self.multiplier = multiplier

    def fit(self, X: Any, y: Any = None, width: Any = None, covariance: Any = None, sample_weight: Any = None) -> Self:
        """Fit the inner features and, for "local", keep the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, and behind them their widths if the parameter `width` says so.
        y : array-like of shape (n_samples,), optional
            Targets, passed on to the inner features.
        width : float or array of shape (n_samples,) or (n_samples, n_features), optional
            Widths of the rows, in place of the parameter. Then `transform` has to be given widths too.
        covariance : array of shape (n_features, n_features) or (n_samples, n_features, n_features), optional
            Covariances of the rows, in place of widths, for "gaussian".
        sample_weight : array-like of shape (n_samples,), optional
            Repetitions of the rows, passed on to the inner features if given. Rows of weight zero are no training
            points for "local".

        Returns
        -------
        self
            The fitted transformer.
        """
        given, X = X, check_array(X, dtype=FLOATS, estimator=self, input_name="X")
        sample_weight = check_sample_weight(sample_weight, len(X))
        points, sizes = self._parts(X, width, covariance)
        spacing = None
        if sizes is None:
            spacing = _LocalSpacing.of(points if sample_weight is None else points[sample_weight > 0], self.n_neighbors)
            sizes = {"width": self._local_width(spacing, points)}
        Footprint.around(points, self.footprint, **sizes)  # refuses what does not fit
        inner = clone(FourierFeatures(random_state=0) if self.features is None else self.features)
        if not hasattr(inner, "transform_over"):
            raise TypeError(
                f"{inner!r} cannot average over a footprint: it has no method transform_over(X, footprint). Use "
                "FourierFeatures or LadderFeatures."
            )
        inner.fit(points, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        validate_data(self, given, skip_check_array=True)  # nothing is set before all has succeeded
        self.features_, self._spacing = inner, spacing
        self._fitted_with_widths = width is not None or covariance is not None
        return self

    def transform(self, X: Any, width: Any = None, covariance: Any = None) -> np.ndarray:
        """Map rows to the means of their features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, and behind them their widths if the parameter `width` says so.
        width : float or array of shape (n_samples,) or (n_samples, n_features), optional
            Widths of the rows, in place of the parameter.
        covariance : array of shape (n_features, n_features) or (n_samples, n_features, n_features), optional
            Covariances of the rows, in place of widths, for "gaussian".

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            The columns of the inner features, in the same order. float32 for float32 X.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        if self._fitted_with_widths and width is None and covariance is None:
            raise ValueError(
                "fit was given the widths of its rows, but transform is not given those of X. Pass width= or "
                "covariance=; in a pipeline, put the widths into columns of X and set width='columns'."
            )
        points, sizes = self._parts(X, width, covariance)
        if sizes is None:
            if self._spacing is None:
                raise ValueError("width was set to 'local' after fit, which kept no training points. Call fit again.")
            sizes = {"width": self._local_width(self._spacing, points)}
        return self.features_.transform_over(points, Footprint.around(points, self.footprint, **sizes))

    def fit_transform(self, X: Any, y: Any = None, width: Any = None, covariance: Any = None, **fit_params: Any) -> Any:
        """Fit to X and transform it, with the same footprints.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `fit`.
        y : array-like of shape (n_samples,), optional
            As in `fit`.
        width : float or array, optional
            As in `fit`.
        covariance : array, optional
            As in `fit`.
        **fit_params : dict
            Further arguments of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            As in `transform`.
        """
        return self.fit(X, y, width, covariance, **fit_params).transform(X, width, covariance)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns, those of the inner features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns, x0, x1, ... unless they had names in `fit`.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return self.features_.get_feature_names_out(names[: self.features_.n_features_in_])

    def _parts(self, X: np.ndarray, width: Any, covariance: Any) -> tuple[np.ndarray, dict[str, Any] | None]:
        """Points, and the width or covariance of their footprints; None in place of a width still to be measured."""
        if not is_positive_number(self.multiplier):
            raise ValueError(f"multiplier must be a positive finite number, got {self.multiplier!r}.")
        source = self.width if isinstance(self.width, str) else "constant"
        is_given = width is not None or covariance is not None
        if source not in ("constant", "columns", "local"):
            raise ValueError(f"width must be a number, an array, 'columns' or 'local', got {self.width!r}.")
        if source == "columns":
            if is_given:
                raise ValueError("The columns of X hold the footprints, as width='columns' says; give no others.")
            return self._from_columns(X)
        if is_given:
            return X, self._scaled(width, covariance)
        return X, None if source == "local" else self._scaled(self._constant(X.shape[1]), None)

    def _scaled(self, width: Any, covariance: Any) -> dict[str, Any]:
        factor = float(self.multiplier)
        with np.errstate(over="ignore"):  # the footprint refuses what is infinite
            return {
                "width": None if width is None else factor * as_numbers(width),
                "covariance": None if covariance is None else factor * (factor * as_numbers(covariance)),
            }

    def _constant(self, d: int) -> np.ndarray:
        """The width that all rows share, (1, 1) or (1, d)."""
        width = np.asarray(self.width)
        is_number = isinstance(self.width, numbers.Real) and not isinstance(self.width, bool)
        if not is_number and width.shape != (d,):
            raise ValueError(
                f"width must be a number, 'columns', 'local', or an array of one number for each of the {d} column(s) "
                f"of X, got {self.width!r}. Widths of single rows are given to fit and transform."
            )
        return width.reshape(1, -1)

    def _from_columns(self, X: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """The footprint columns split off."""
        count = self.n_width_columns
        if not is_integer(count, at_least=1):
            raise ValueError(f"n_width_columns must be an integer of at least 1, got {count!r}.")
        d = X.shape[1] - int(count)
        if d < 1 or count not in (1, d, d * (d + 1) // 2):
            raise ValueError(
                f"X has {X.shape[1]} feature(s), of which n_width_columns={count} are to hold the footprint. That "
                f"leaves d = {d}, which must be at least 1, and n_width_columns must be 1, d or d (d + 1)/2."
            )
        points, widths = X[:, :d], X[:, d:]
        if count in (1, d):
            return points, self._scaled(widths, None)
        covariance = np.empty((len(X), d, d))
        upper, lower = np.triu_indices(d)
        covariance[:, upper, lower] = covariance[:, lower, upper] = widths
        return points, self._scaled(None, covariance)

    def _local_width(self, spacing: Any, points: np.ndarray) -> np.ndarray:
        check_footprint(self.footprint, points.shape[1])
        return float(self.multiplier) * cell_width(self.footprint, points.shape[1]) * spacing(points)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "features_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class _LocalSpacing:
    """The spacing of points around others, from the distance to the k-th nearest."""

    points: np.ndarray  # distinct, times scale
    k: int
    scale: float  # a power of two, so that no square in a distance overflows or vanishes

    @classmethod
    def of(cls, points: np.ndarray, n_neighbors: int | None) -> _LocalSpacing:
        if n_neighbors is not None and not is_integer(n_neighbors, at_least=1):
            raise ValueError(f"n_neighbors must be an integer of at least 1, or None, got {n_neighbors!r}.")
        distinct = np.unique(points.astype(np.float64), axis=0)
        k = 2 * points.shape[1] + 1 if n_neighbors is None else int(n_neighbors)
        scale = 2.0 ** -max(-1000, min(1000, math.frexp(float(np.ptp(distinct / 2, axis=0).max()))[1]))
        return cls(distinct * scale, min(k, len(distinct)), scale)

    @cached_property
    def tree(self) -> KDTree:
        return KDTree(self.points)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        d = self.points.shape[1]
        distance = self.tree.query(np.asarray(X, dtype=np.float64) * self.scale, k=[self.k])[0][:, 0]
        log_volume = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
        return distance * math.exp((log_volume - math.log(self.k)) / d) / self.scale

    def __getstate__(self) -> dict[str, Any]:
        return {"points": self.points, "k": self.k, "scale": self.scale}  # the tree is quick to build again
