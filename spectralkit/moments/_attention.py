"""Moments of positive features and values: kernel-weighted averages over any number of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.blas import dgemm

from spectralkit._validation import check_sample_weight, is_integer
from spectralkit.moments._additive import AdditiveMoments, checked_factor, floating

VALUES_PER_BLOCK = 1 << 17  # 1 MB, which stay near the processor between logarithm and product


class AttentionSums(NamedTuple):
    r"""Sums over rows with the weights :math:`w_i\,\phi(x)\cdot\phi(x_i)`, for each query x.

    Parameters
    ----------
    log_scale : ndarray of shape (n,)
        Logarithm of what both sums are divided by; minus infinity where query and rows have no feature in common.
    total : ndarray of shape (n,)
        The sum of the weights is ``exp(log_scale) * total``; 0 where nothing is left.
    values : ndarray of shape (n, k)
        The weighted sum of the values is ``exp(log_scale) * values``, their average ``values / total``.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit.moments import AttentionMoments
    >>> sums = AttentionMoments(1).update([[1000.0], [1000.0]], [3.0, 5.0]).sums([[-2000.0]])
    >>> sums.log_scale, sums.total, sums.values
    (array([-1000.]), array([2.]), array([[8.]]))
    """

    log_scale: np.ndarray
    total: np.ndarray
    values: np.ndarray


class AttentionMoments(AdditiveMoments):
    r"""Sums of positive features, and of their products with values, from which kernel-weighted averages follow.

    .. math:: B_j = \sum_i w_i\,\phi_j(x_i), \qquad A_j = \sum_i w_i\,\phi_j(x_i)\,v_i, \qquad
              \frac{\sum_i w_i\,k(x, x_i)\,v_i}{\sum_i w_i\,k(x, x_i)} \approx
              r(x) = \frac{\sum_j \phi_j(x)\,A_j}{\sum_j \phi_j(x)\,B_j}

    for features :math:`\phi_j > 0` with :math:`\phi(x)\cdot\phi(y) \approx k(x, y)`, such as `PositiveRandomFeatures`.
    The moments of two sets of rows add up to those of their union: streaming, threads, folds and forgetting are sums.

    Features come as their logarithms, of any size. Each has a scale, the largest :math:`w_i\,\phi_j(x_i)` so far, by
    which its sums are divided, and which is kept as a logarithm; so nothing overflows, and what vanishes is less than
    :math:`10^{-300}` of what it is added to. Values are measured from the first of them, so a common offset costs no
    digits. Everything is in double precision; a feature is known to 1e-16 of itself for each unit of its logarithm.

    Parameters
    ----------
    n_features : int
        Number of features m.
    n_values : int, default=1
        Number of values k of a row.

    Attributes
    ----------
    weight : float
        The sum of the weights; a weight counts repetitions of a row.

    Raises
    ------
    ValueError
        If a count is not an integer of at least 1.

    References
    ----------
    A. Katharopoulos, A. Vyas, N. Pappas and F. Fleuret, "Transformers are RNNs: fast autoregressive transformers with
    linear attention", ICML 2020.
    W. G. Cochran, "Sampling techniques", 3rd edition, Wiley 1977, chapter 6, for the standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import PositiveRandomFeatures
    >>> from spectralkit.moments import AttentionMoments
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> features = PositiveRandomFeatures(sigma=0.2, n_components=4096, random_state=0).fit(X)
    >>> moments = AttentionMoments(4096).update(features.log_transform(X), X[:, 0])
    >>> query = features.log_transform([[0.5, 0.5]])
    >>> sums, k = moments.sums(query), np.exp(-2 * (0.2 * np.pi) ** 2 * ((X - 0.5) ** 2).sum(axis=1))
    >>> (sums.values / sums.total).round(3), (k @ X[:, [0]] / k.sum()).round(3), moments.standard_errors(query).round(3)
    (array([[0.326]]), array([0.322]), array([[0.007]]))
    """

    def __init__(self, n_features: int, n_values: int = 1) -> None:
        if not is_integer(n_features, at_least=1) or not is_integer(n_values, at_least=1):
            raise ValueError(
                "Moments need an integer number of features, at least 1, and of values, at least 1, got "
                f"{n_features!r} and {n_values!r}."
            )
        self.n_features, self.n_values = int(n_features), int(n_values)
        self.weight = 0.0
        self._pivot = np.zeros(n_values)
        self._log_scale = np.full(n_features, -np.inf)
        self._sums = np.zeros((n_features, 1 + n_values), order="F")  # B, and A about the pivot, over the scales

    @np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")
    def update(self, log_features: Any, values: Any, sample_weight: Any = None) -> Self:
        """Add rows.

        Parameters
        ----------
        log_features : array of shape (n, m)
            Logarithms of the features, float32 or float64; minus infinity for a feature that is zero.
        values : array of shape (n,) or (n, k)
            Values.
        sample_weight : array of shape (n,), optional
            Repetitions of the rows; they need not be integers.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If the shapes do not agree, a logarithm is NaN or plus infinity, a value is NaN or infinite or so large that
            its square overflows, or a weight is negative. The moments are then what they were.
        """
        log_features, values, weights = self._checked(log_features, values, sample_weight)
        log_weights, weight = np.log(weights)[:, None], float(weights.sum())
        log_scale, sums, pivot = self._log_scale, self._sums.copy(order="F"), self._pivot
        if self.weight == 0 < weight:
            pivot = values[np.argmax(weights > 0)].astype(np.float64)
        for rows, shares, _ in self._blocks(len(values)):
            np.add(log_features[rows], log_weights[rows], out=shares)  # a weight of zero hides no NaN
            top = np.maximum(log_scale, shares.max(axis=0))
            sums *= np.exp(log_scale - _finite(top))[:, None]
            np.exp(np.subtract(shares, _finite(top), out=shares), out=shares)
            factors = np.ones((1 + self.n_values, len(shares)))
            np.subtract(values[rows].T, pivot[:, None], out=factors[1:])
            # SciPy's BLAS, as in other moments: NumPy has another, whose threads would go on to spin beside it
            log_scale, sums = top, dgemm(1.0, shares.T, factors.T, beta=1.0, c=sums, overwrite_c=1)
        self.weight, self._pivot, self._log_scale, self._sums = self.weight + weight, pivot, log_scale, sums
        return self

    def merge(self, other: AttentionMoments) -> Self:
        """Add the rows that other moments have seen.

        Parameters
        ----------
        other : AttentionMoments
            Moments of the same shape.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If kind or shape differ.
        """
        self._check_same(other)
        if other.weight > 0:
            pivot = self._pivot if self.weight > 0 else other._pivot
            top = np.maximum(self._log_scale, other._log_scale)
            sums = self._seen_from(pivot, top) + other._seen_from(pivot, top)
            self.weight, self._pivot, self._log_scale, self._sums = self.weight + other.weight, pivot, top, sums
        return self

    def subtract(self, other: AttentionMoments) -> Self:
        """Take out rows that these moments have seen: a fold, or rows to be forgotten.

        Parameters
        ----------
        other : AttentionMoments
            Moments of the same shape, of a part of these rows.

        Returns
        -------
        self
            These moments. What is left of a feature has the rounding errors of the whole, and is 0 if no larger.

        Raises
        ------
        ValueError
            If kind or shape differ, or `other` has more weight than these moments.
        """
        self._check_same(other)
        left = self._weight_without(other)
        if left == 0:
            self.__dict__.update(type(self)(self.n_features, self.n_values).__dict__)
        elif other.weight > 0:
            sums = self._sums - other._seen_from(self._pivot, self._log_scale)
            gone = ~(sums[:, 0] > self._rounding * self._sums[:, 0])
            sums[gone] = 0.0
            self._sums, self._log_scale = sums, np.where(gone, -np.inf, self._log_scale)
            self.weight = left
        return self

    def scale(self, factor: float) -> Self:
        """Multiply the weight of all rows so far: a factor below 1 before each update forgets old rows.

        Parameters
        ----------
        factor : float
            Positive and finite.

        Returns
        -------
        self
            These moments.

        Raises
        ------
        ValueError
            If the factor is not positive and finite.
        """
        factor = checked_factor(factor)
        self.weight *= factor
        # the scales fade with the rows that set them, or new rows would one day vanish beside forgotten ones
        self._log_scale = self._log_scale + math.log(factor)
        if self.weight == 0:
            self.__dict__.update(type(self)(self.n_features, self.n_values).__dict__)
        return self

    @np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")
    def sums(self, log_features: Any, left_out: tuple[Any, Any] | None = None) -> AttentionSums:
        """Return the sums over all rows, or over all but one, that each query sees.

        Parameters
        ----------
        log_features : array of shape (n, m)
            Logarithms of the features of the queries, float32 or float64; minus infinity for a feature that is zero.
        left_out : tuple (values, sample_weight), optional
            The queries are rows that were added, with these values, (n,) or (n, k), and weights, (n,) or None for ones,
            and each leaves out its own ``w |phi(x)|^2 (1, v)``. Weights that were scaled are given as they are now.

        Returns
        -------
        AttentionSums
            In double precision. Without its own row, a query's sums have the rounding errors of those with it; where
            the total is no larger than they are, nothing is left, and it is 0 with values 0.

        Raises
        ------
        ValueError
            As in `update`, and if `left_out` is not a tuple of two.
        """
        logs = self._checked_logs(log_features)
        if left_out is not None:
            if not isinstance(left_out, tuple) or len(left_out) != 2:
                raise ValueError("left_out must be a tuple (values, sample_weight); the second may be None.")
            logs, values, weights = self._checked(log_features, *left_out)
            log_weights = np.log(weights)[:, None]
        n, scale = len(logs), np.where(self._log_scale > -np.inf, self._log_scale, np.inf)
        log_scale, out = np.empty(n), np.empty((n, 1 + self.n_values))
        for rows, shares, own in self._blocks(n):
            log_scale[rows], block = self._write_shares(logs[rows], shares), out[rows]
            block[:] = dgemm(1.0, self._sums, shares.T, trans_a=True).T
            if left_out is not None:
                # by the arithmetic by which rows are added: the last bits agree where the own row set the scale
                np.add(logs[rows], log_weights[rows], out=own)
                np.exp(np.subtract(own, scale, out=own), out=own)
                share, rounding = np.einsum("ij,ij->i", own, shares), self._rounding * block[:, 0]
                block[:, 0] -= share
                block[:, 1:] -= share[:, None] * (values[rows] - self._pivot)
                block[~(block[:, 0] > rounding)] = 0.0
        total = out[:, 0].copy()
        return AttentionSums(log_scale, total, out[:, 1:] + total[:, None] * self._pivot)

    @np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")
    def standard_errors(self, log_features: Any) -> np.ndarray:
        r"""Return the standard errors of the averages that come from the draw of the features.

        .. math:: \widehat{\operatorname{Var}}\, r(x) = \frac{m}{m - 1}\,
                  \frac{\sum_j \phi_j(x)^2\,(A_j - r(x)\,B_j)^2}{\left(\sum_j \phi_j(x)\,B_j\right)^2}

        the variance to first order of a ratio of means over m independent draws. As a rule it is too large for coupled
        features, such as those of orthogonal directions, and too small where few features make up the sums.

        Parameters
        ----------
        log_features : array of shape (n, m)
            Logarithms of the features of the queries, float32 or float64; minus infinity for a feature that is zero.

        Returns
        -------
        ndarray of shape (n, k)
            In units of the values; infinite where there is no average, and for a single feature.

        Raises
        ------
        ValueError
            If the shape does not agree, or a logarithm is NaN or plus infinity.
        """
        logs = self._checked_logs(log_features)
        variances = np.empty((len(logs), self.n_values))
        means = self._sums[:, 1:] / np.where(self._sums[:, 0] > 0, self._sums[:, 0], 1.0)[:, None]
        for rows, shares, terms in self._blocks(len(logs)):
            self._write_shares(logs[rows], shares)
            products = dgemm(1.0, self._sums, shares.T, trans_a=True).T
            np.multiply(shares, self._sums[:, 0], out=shares)
            for c in range(self.n_values):  # squares of differences, since a difference of squares would lose them
                np.subtract.outer(products[:, 1 + c] / products[:, 0], means[:, c], out=terms)
                np.multiply(terms, shares, out=terms)
                variances[rows, c] = np.einsum("ij,ij->i", terms, terms) / products[:, 0] ** 2
        variances *= self.n_features / np.float64(self.n_features - 1)
        return np.where(np.isnan(variances), np.inf, np.sqrt(variances))

    @property
    def _rounding(self) -> float:
        """Relative rounding errors of sums: those of additions, and those of the logarithms."""
        scales = np.abs(self._log_scale[self._log_scale > -np.inf])
        return 1e-12 + 4 * float(np.finfo(np.float64).eps) * float(scales.max(initial=0.0))

    def _blocks(self, n: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Blocks of rows, and room for their features, twice."""
        step = max(64, VALUES_PER_BLOCK // self.n_features)
        room = np.empty((2, min(n, step), self.n_features))
        for start in range(0, n, step):
            stop = min(start + step, n)
            yield slice(start, stop), room[0, : stop - start], room[1, : stop - start]

    def _write_shares(self, logs: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Features of queries times the scales over the largest such product of the query, whose logarithm returns."""
        top = np.add(logs, self._log_scale, out=shares).max(axis=1)
        np.exp(np.subtract(shares, _finite(top)[:, None], out=shares), out=shares)
        return top

    @np.errstate(invalid="ignore", over="ignore", under="ignore")
    def _seen_from(self, pivot: np.ndarray, log_scale: np.ndarray) -> np.ndarray:
        """The sums about another pivot and over other scales."""
        sums = self._sums.copy(order="F")
        sums[:, 1:] += sums[:, :1] * (self._pivot - pivot)
        sums *= np.exp(self._log_scale - _finite(log_scale))[:, None]
        return sums

    def _checked(self, log_features: Any, values: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        log_features, values = self._checked_logs(log_features), floating(values, "values")
        values = values[:, None] if values.ndim == 1 else values
        if values.shape != (len(log_features), self.n_values):
            raise ValueError(
                f"values must have one row per row of log_features and {self.n_values} column(s), "
                f"({len(log_features)}, {self.n_values}), got {values.shape}."
            )
        if not np.isfinite(np.einsum("ij,ij->", values, values, dtype=np.float64)):
            raise ValueError(
                "values have NaN or infinite values, or values whose squares overflow. Fill them in, leave the rows "
                "out, or use smaller units."
            )
        weights = check_sample_weight(weights, len(values), of_a_batch=True)
        return log_features, values, np.ones(len(values)) if weights is None else weights

    def _checked_logs(self, log_features: Any) -> np.ndarray:
        log_features = floating(log_features, "log_features")
        if log_features.ndim != 2 or log_features.shape[1] != self.n_features:
            raise ValueError(f"log_features must have shape (n, {self.n_features}), got {log_features.shape}.")
        return log_features

    def _check_same(self, other: Any) -> None:
        self._check_kind(other)
        if self._sums.shape != other._sums.shape:
            raise ValueError(
                f"Moments of equal shape are needed, but these have {self.n_features} features and {self.n_values} "
                f"values, the others {other.n_features} and {other.n_values}."
            )


def _finite(top: np.ndarray) -> np.ndarray:
    """Largest logarithms, 0 for minus infinity, whose difference with itself is NaN; they show if any is not valid."""
    if not (top < np.inf).all():
        raise ValueError(
            "log_features have NaN or infinite values; only minus infinity is allowed, the logarithm of a feature that "
            "is zero. Fill them in or leave the rows out."
        )
    return np.where(top > -np.inf, top, 0.0)
