"""Probabilities of classes from ridge regressions on targets of plus and minus one."""

from __future__ import annotations

import numpy as np

SMALLEST_SIGMA = 1e-3  # no residuals at all would be certainty


def probabilities(scores: np.ndarray, shares: np.ndarray, errors: np.ndarray) -> np.ndarray:
    r"""Probabilities of the K classes that have weight, from the regressions alone.

    .. math:: P = (1 - u^2)\,\mathrm{softmax}(c F/\sigma) + u^2\,\Pi\bigl(\tfrac{1 + F}2\bigr), \qquad
              u = \min\Bigl(\frac{v}{v_0}, 1\Bigr), \quad \sigma = \sqrt{u v_0}

    F are the scores, v is their mean squared error on new rows, :math:`v_0` the variance of the targets, the mean of
    :math:`4\pi_c(1 - \pi_c)`, and :math:`\Pi` the Euclidean projection onto the simplex; c is 1 for two classes, whose
    scores are -f and f, and 2 for more. So without signal, u = 1, these are the regressions, which give the
    frequencies of the classes, and with it logistic curves as steep as the errors are small.

    `scores` are of shape (n, K), `shares` the frequencies :math:`\pi_c`, those without weight zero, and `errors` the
    squared errors of each target, where a value that is not finite stands for no knowledge of them: u = 1.
    """
    there = shares > 0
    out = np.zeros(scores.shape)
    n_classes = int(there.sum())
    if n_classes < 2:
        out[:, there] = 1.0
        return out
    below = scores[:, there] - scores[:, there].max(axis=1, keepdims=True)
    variance = float((4 * shares[there] * (1 - shares[there])).mean())
    error = float(errors[there].mean())
    u = min(error / variance, 1.0) if np.isfinite(error) else 1.0
    sigma = max(np.sqrt(u * variance), SMALLEST_SIGMA)
    curve = np.exp((1.0 if n_classes == 2 else 2.0) / sigma * below)
    curve /= curve.sum(axis=1, keepdims=True)
    mixed = (1 - u**2) * curve + u**2 * _on_simplex(below / 2)  # which no shift of a row changes
    out[:, there] = mixed / mixed.sum(axis=1, keepdims=True)
    return out


def _on_simplex(rows: np.ndarray) -> np.ndarray:
    """The closest points to the rows among those without negative coordinates whose sum is one."""
    descending = -np.sort(-rows, axis=1)
    thresholds = (np.cumsum(descending, axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    positive = (descending > thresholds).sum(axis=1)
    return np.maximum(rows - np.take_along_axis(thresholds, positive[:, None] - 1, axis=1), 0.0)
