"""Spectral mixtures: Gaussian bumps at pairs of frequencies."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

from spectralkit._validation import is_integer
from spectralkit._xp import convert, cosine_and_sine, in_blocks, is_torch, logsumexp, namespace
from spectralkit.spectra._choose import choose_signed
from spectralkit.spectra._dual import value_of
from spectralkit.spectra._lags import Lags
from spectralkit.spectra._parameters import fixed, positive, real
from spectralkit.spectra._template import Data
from spectralkit.spectra.base import SpectralMeasure


class SpectralMixture(SpectralMeasure):
    r"""Mixture of Gaussians in the frequency domain: quasi-periodic components, each with its own period and life time.

    .. math:: k(\tau) = \sum_q w_q \exp\bigl(-2\pi^2 \sum_p s_{qp}^2\tau_p^2\bigr) \cos(2\pi\,\mu_q\cdot\tau), \qquad
              k(0) = \sum_q w_q

    In more than one column this is the kernel of a mixture, not the product over columns of one-dimensional mixtures.

    Parameters
    ----------
    weights : array of shape (Q,), optional
        Mass of each component: its variance, in squared units of y.
    means : array of shape (Q, d), optional
        Centre frequencies in cycles per unit of x. For d > 1 the signs matter: (1, 1) and (1, -1) are waves in
        different directions. Shape (Q,) is understood as one column.
    sigmas : array of shape (Q, d), optional
        Standard deviations of the components in cycles per unit; ``1 / (2 pi sigma)`` is the lag after which a
        component forgets its phase. Shape (Q,) is understood as one column.
    n_mixtures : int, optional
        Number of components. On its own it makes a template.

    Raises
    ------
    ValueError
        If weights or sigmas are not positive, or the shapes do not agree.

    References
    ----------
    A. G. Wilson and R. P. Adams, "Gaussian process kernels for pattern discovery and extrapolation", ICML 2013, with
    the correction for more than one column.

    Examples
    --------
    >>> import numpy as np
    >>> from spectralkit import SpectralMixture
    >>> k = SpectralMixture(weights=[0.5, 1.0], means=[[0.3, -0.2], [1.1, 0.7]], sigmas=[[0.1, 0.2], [0.3, 0.05]])
    >>> k.mass
    1.5
    >>> round(float(k.characteristic(np.array([0.4, -0.9]))), 12)
    0.187214747187
    """

    weights: Any = positive(default=None)
    means: Any = real(default=None)
    sigmas: Any = positive(default=None)
    n_mixtures: int | None = fixed(default=None)
    open_: ClassVar[tuple[str, ...]] = ("weights", "means", "sigmas")

    @property
    def dimension(self) -> int | None:
        """Number of columns of the means; None while they are open."""
        if self.means is None:
            return None
        shape = np.shape(self.means)
        return shape[1] if len(shape) == 2 else 1

    def _check_parameters(self) -> None:
        if self.n_mixtures is not None and not is_integer(self.n_mixtures, at_least=1):
            raise ValueError(f"SpectralMixture: n_mixtures must be an integer of at least 1, got {self.n_mixtures!r}.")
        counts = {
            name: np.shape(getattr(self, name))
            for name in ("weights", "means", "sigmas")
            if getattr(self, name) is not None
        }
        if any(not 1 <= len(shape) <= (1 if name == "weights" else 2) for name, shape in counts.items()):
            raise ValueError(
                "SpectralMixture: weights must have shape (Q,), means and sigmas (Q, d), got "
                + ", ".join(f"{name} {shape}" for name, shape in counts.items()) + "."
            )  # fmt: skip
        columns = {shape[1] if len(shape) == 2 else 1 for name, shape in counts.items() if name != "weights"}
        components = {shape[0] for shape in counts.values()} | ({self.n_mixtures} - {None})
        if len(components) > 1 or len(columns) > 1:
            raise ValueError(
                "SpectralMixture: weights (Q,), means (Q, d), sigmas (Q, d) and n_mixtures must agree on Q and d, got "
                + ", ".join(f"{name} {shape}" for name, shape in counts.items())
                + (f", n_mixtures {self.n_mixtures}." if self.n_mixtures is not None else ".")
            )

    def component_table(self) -> dict[str, np.ndarray]:
        """Return the components, the heaviest first.

        Returns
        -------
        dict of str to ndarray
            Made for ``pandas.DataFrame``: "weight"; "share" of k(0); "frequency" and "sigma" in cycles per unit, with
            the number of the column behind them if there are several, "frequency_0", ...; and "period", the distance
            from crest to crest, infinite at frequency zero.

        Examples
        --------
        >>> from spectralkit import SpectralMixture
        >>> SpectralMixture([1.0, 3.0], [0.5, 0.25], [0.01, 0.02]).component_table()["period"]
        array([4., 2.])

        Of a mean and its negative, which are the same component, the table has the one whose first number that is not
        zero is positive.
        """
        self.require()
        order = np.argsort(-np.asarray(self.weights), kind="stable")
        weights, means, sigmas = (
            np.reshape(values, (len(order), -1))[order] for values in (self.weights, self.means, self.sigmas)
        )
        d = means.shape[1]
        first = np.take_along_axis(means, np.argmax(means != 0, axis=1)[:, None], axis=1)
        means = np.where(first < 0, -means, means)  # the kernel is even: a wave and its negative are one
        with np.errstate(divide="ignore"):
            period = 1 / np.linalg.norm(means, axis=1)
        names = ("",) if d == 1 else tuple(f"_{column}" for column in range(d))
        table = {"weight": weights[:, 0], "share": weights[:, 0] / weights.sum()}
        table |= {f"frequency{name}": means[:, j] for j, name in enumerate(names)} | {"period": period}
        return table | {f"sigma{name}": sigmas[:, j] for j, name in enumerate(names)}

    def _resolve(self, data: Data) -> Self:
        """Fill what is open from the peaks of the spectrum; given weights go to the peaks by their rank."""
        opened = [name for name in self.open_ if getattr(self, name) is None]
        if not opened or data.components is None:
            return self
        given = [len(getattr(self, name)) for name in self.open_ if name not in opened]
        count = given[0] if given else self.n_mixtures
        means = None if self.means is None else np.reshape(self.means, (len(self.means), -1))
        found = dict(zip(("weights", "means", "sigmas"), data.components(data, count, means), strict=True))
        if self.weights is not None and self.means is None:
            rank = np.argsort(np.argsort(-np.asarray(self.weights), kind="stable"), kind="stable")
            found = {name: value[rank] for name, value in found.items()}
        return self.replace(**{name: found[name] for name in opened})

    def _components(self, like: Any) -> list[tuple[Any, Any, Any]]:
        """(weight, mean (d,), sigma (d,)) of each component, converted to the library of `like`."""
        weights = convert(self.weights, like)
        count = weights.shape[0]
        means = convert(self.means, like).reshape((count, -1))
        sigmas = convert(self.sigmas, like).reshape((count, -1))
        return [(weights[q], means[q], sigmas[q]) for q in range(count)]

    def _terms(self) -> list[SpectralMeasure]:
        if len(self.weights) == 1:
            return [self]
        weights, means, sigmas = (np.asarray(values)[:, None] for values in (self.weights, self.means, self.sigmas))
        return [SpectralMixture(*component) for component in zip(weights, means, sigmas, strict=True)]

    def _mass(self) -> Any:
        return self.weights.sum() if is_torch(self.weights) else float(np.sum(self.weights))

    def _has(self, capability: str, d: int) -> bool:
        if capability == "nonnegative":  # a component with a mean is a wave
            return self.means is not None and not np.any(value_of(self.means))
        return super()._has(capability, d)

    def _covariance(self, lags: Lags) -> Any:
        xp = namespace(lags.like)
        total: Any = 0.0
        for weight, mean, sigma in self._components(lags.like):  # one at a time: never a (Q, n, m) array

            def bump(s: Any, turns: Any, weight: Any = weight) -> Any:
                return weight * xp.exp(-2 * math.pi**2 * s) * cosine_and_sine(turns)[0]

            total = total + in_blocks(bump, lags.squared(sigma), lags.turns(mean))
        return total

    def _covariance_gradient(self, lags: Lags, out: list[np.ndarray | None]) -> np.ndarray:
        """One exponential, cosine and sine per component give its value and all 1 + 2d derivatives."""
        components = self._components(lags.like)
        count, d = len(components), lags.d
        slots: list[Any] = list(out)
        to_weights = slots[:count]
        to_means = [slots[count + q * d : count + (q + 1) * d] for q in range(count)]
        to_sigmas = [slots[count + (count + q) * d : count + (count + q + 1) * d] for q in range(count)]
        K = np.zeros(lags.shape, dtype=lags.like.dtype)
        for rows, pairs in lags.row_blocks():
            columns = [pairs.column(j) for j in range(d)]
            for q, (weight, mean, sigma) in enumerate(components):
                envelope = weight * np.exp(-2 * math.pi**2 * pairs.squared(sigma))
                cosine, sine = cosine_and_sine(pairs.turns(mean))
                k = envelope * cosine
                K[rows] += k
                if to_weights[q] is not None:
                    to_weights[q][rows] = k
                if any(slot is not None for slot in to_means[q]):
                    quadrature = -2 * math.pi * envelope * sine
                for j in range(d):
                    if to_means[q][j] is not None:
                        np.multiply(quadrature, columns[j], out=to_means[q][j][rows])
                    if to_sigmas[q][j] is not None:
                        np.multiply(-k, (2 * math.pi * sigma[j] * columns[j]) ** 2, out=to_sigmas[q][j][rows])
        return lags.with_diagonal(K, self._mass())

    def _transport(self, u: np.ndarray, d: int) -> np.ndarray:
        q, rest, sign = choose_signed(u[:, 0], self.weights)
        return self._place(q, sign, special.ndtri(np.column_stack([rest, u[:, 1:]])))

    def _polar(self, v: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
        q, rest, sign = choose_signed(u[:, 0], self.weights)
        return self._place(q, sign, v * np.sqrt(2 * special.gammaincinv(d / 2, rest))[:, None])

    def _place(self, q: np.ndarray, sign: np.ndarray, standard_normal: np.ndarray) -> np.ndarray:
        means = np.reshape(self.means, (len(self.weights), -1))
        sigmas = np.reshape(self.sigmas, (len(self.weights), -1))
        return sign * means[q] + sigmas[q] * standard_normal

    def _log_density(self, omega: Any) -> Any:
        d = omega.shape[-1]
        xp = namespace(omega, self.weights, self.means, self.sigmas)
        terms = []
        for weight, mean, sigma in self._components(omega):
            height = xp.log(weight / 2) - xp.log(sigma).sum(-1) - d / 2 * math.log(2 * math.pi)
            terms += [height - 0.5 * (((omega - centre) / sigma) ** 2).sum(-1) for centre in (mean, -mean)]
        return logsumexp(terms)

    def _cutoff(self, tol: float, d: int) -> np.ndarray:
        means = np.reshape(self.means, (len(self.weights), -1))
        sigmas = np.reshape(self.sigmas, (len(self.weights), -1))
        return (np.abs(means) - special.ndtri(tol / (2 * d)) * sigmas).max(axis=0)

    def _support(self, tol: float, d: int) -> np.ndarray:
        sigmas = np.reshape(self.sigmas, (len(self.weights), -1))
        return (math.sqrt(-math.log(tol) / 2) / (math.pi * sigmas)).max(axis=0)

    def _log_mgf(self, x: Any) -> Any:
        xp = namespace(x, self.weights, self.means, self.sigmas)
        terms = []
        for weight, mean, sigma in self._components(x):
            bump = xp.log(weight / 2) + 2 * math.pi**2 * ((x * sigma) ** 2).sum(-1)
            terms += [bump + sign * 2 * math.pi * (x * mean).sum(-1) for sign in (1.0, -1.0)]
        return logsumexp(terms)
