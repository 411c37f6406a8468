"""The kernel of a spectral mixture for GPyTorch, started from data."""

from __future__ import annotations

from typing import Any, Self

import gpytorch
import numpy as np
import torch

from spectralkit.kernels._mixture import component_table, mixture_from_data, over_columns
from spectralkit.torch.kernels import SpectralKernel

__all__ = ["SpectralMixtureKernel"]


class SpectralMixtureKernel(SpectralKernel):
    r"""The kernel of a spectral mixture, for GPyTorch: a `SpectralKernel` that can start from data.

    .. math:: k(\tau) = \sum_q w_q \exp\bigl(-2\pi^2 \sum_p s_{qp}^2\tau_p^2\bigr) \cos(2\pi\,\mu_q\cdot\tau), \qquad
              k(0) = \sum_q w_q

    `gpytorch.kernels.SpectralMixtureKernel` is the product over columns of one-dimensional mixtures, with positive
    means: in more than one column it has a wave that runs aslant only together with its mirror images. Its likelihood
    and this one's have a maximum for almost every peak in the spectrum of the data; `from_data` starts on the right
    ones.

    Parameters
    ----------
    spectrum : SpectralMeasure
        The mixture, without open parameters.
    batch_shape : torch.Size, optional
        Batches of parameters, all with the same starting values.
    active_dims : tuple of int, optional
        Columns of x to act on.
    priors : dict, optional
        From "weights", "means" or "sigmas" to `gpytorch.priors.Prior`.
    constraints : dict, optional
        From "weights", "means" or "sigmas" to `gpytorch.constraints.Interval`.

    Raises
    ------
    TypeError, TemplateError, CapabilityError, ValueError
        As for `SpectralKernel`.

    See Also
    --------
    spectralkit.estimation.search_bounds : Bounds from which constraints can be made.

    Notes
    -----
    Means are parameters as they are, in cycles per unit of x, and known to a fraction of a cycle over the range of x.
    Adam moves every parameter by up to its learning rate: scale x to the unit interval first, or give ``raw_means`` a
    group of its own with a learning rate of a tenth of a cycle over the range. Of the weights and a
    `gpytorch.kernels.ScaleKernel` around the kernel one is redundant.

    In one column ``theirs.initialize(mixture_weights=ours.weights, mixture_means=ours.means.reshape(-1, 1, 1),
    mixture_scales=ours.sigmas.reshape(-1, 1, 1))`` gives GPyTorch's kernel the same components.

    Examples
    --------
    >>> import math
    >>> import torch
    >>> from spectralkit.torch import SpectralMixtureKernel
    >>> x = torch.linspace(0, 10, 201)
    >>> y = 3 * torch.cos(2 * math.pi * 1.3 * x) + torch.sin(2 * math.pi * 0.4 * x)
    >>> kernel = SpectralMixtureKernel.from_data(x, y, n_mixtures=2)
    >>> table = kernel.component_table()
    >>> table["frequency"].round(4), table["share"].round(2)
    (array([1.3, 0.4]), array([0.9, 0.1]))
    """

    @classmethod
    def from_data(
        cls,
        train_x: torch.Tensor,
        train_y: torch.Tensor,
        n_mixtures: int | None = None,
        form: str = "mixture",
        *,
        batch_shape: torch.Size | None = None,
        active_dims: tuple[int, ...] | None = None,
        priors: dict[str, Any] | None = None,
        constraints: dict[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        r"""Make the kernel from the peaks in the spectrum of the data, as `spectralkit.SpectralMixtureKernel` does.

        Parameters
        ----------
        train_x : Tensor of shape (n, d) or (n,)
            Points.
        train_y : Tensor of shape (n,) or (n, t)
            Values, in the units in which the kernel is to be used.
        n_mixtures : int, optional
            Number of components; if left out, chosen by the Bayesian information criterion.
        form : {"mixture", "product"}, default="mixture"
            "product" is the product over columns of one-dimensional mixtures, as in GPyTorch.
        batch_shape : torch.Size, optional
            Batches of parameters, all with the same starting values.
        active_dims : tuple of int, optional
            Columns of x to act on, and to read.
        priors : dict, optional
            As for the class; in the form "product" the names are "0__weights", ....
        constraints : dict, optional
            As for the class.
        **options : dict
            Options of `spectralkit.estimation.spectral_components`, such as `noise_std`, `regressors`, `trend` and
            `max_frequency`; tensors or arrays.

        Returns
        -------
        SpectralMixtureKernel
            With starting values. Its parameters have torch's default dtype, as those of any kernel.

        Raises
        ------
        ValueError
            If the data are a batch or have no spectrum to read, or `form` is unknown.
        """
        X, y = _as_array(train_x), _as_array(train_y)
        X = X[:, None] if X.ndim == 1 else X
        if X.ndim != 2:
            raise ValueError(
                f"train_x must have shape (n, d) or (n,), got {X.shape}. Make the kernel from one data set of a batch, "
                "with the batch_shape of all."
            )
        if active_dims is not None:
            X = X[:, np.asarray(active_dims, dtype=int)]
        options = {name: _as_array(value) if torch.is_tensor(value) else value for name, value in options.items()}
        spectrum = mixture_from_data(X, y, n_mixtures, form, **options)
        return cls(spectrum, batch_shape, active_dims, priors, constraints)

    @classmethod
    def from_gpytorch(cls, kernel: gpytorch.kernels.SpectralMixtureKernel) -> Self:
        """Make the kernel that equals one of GPyTorch: the product over columns of one-dimensional mixtures.

        Parameters
        ----------
        kernel : gpytorch.kernels.SpectralMixtureKernel
            A kernel without a batch shape, trained or not.

        Returns
        -------
        SpectralMixtureKernel
            With the values that `kernel` has; ``spectrum`` is its measure, for features and plots.

        Raises
        ------
        ValueError
            If `kernel` has a batch shape.
        """
        if kernel.batch_shape:
            raise ValueError(f"A batch of kernels, {tuple(kernel.batch_shape)}, is not one measure; index the kernel.")
        weights, means, sigmas = map(
            _as_array, (kernel.mixture_weights, kernel.mixture_means[:, 0], kernel.mixture_scales[:, 0])
        )
        columns = None if kernel.active_dims is None else tuple(kernel.active_dims.tolist())
        return cls(over_columns([weights] * means.shape[1], means, sigmas), active_dims=columns)

    def component_table(self) -> dict[str, np.ndarray]:
        """Return the components with the current parameters, the heaviest first.

        Returns
        -------
        dict of str to ndarray
            As `SpectralMixture.component_table`; made for ``pandas.DataFrame``. For a product over columns, the tables
            of its factors one below the other, with the number of the "column".

        Raises
        ------
        TypeError
            If the measure is no such mixture.
        ValueError
            If there is a batch of parameters.
        """
        return component_table(self.spectrum)


def _as_array(tensor: Any) -> np.ndarray:
    return torch.as_tensor(tensor).detach().cpu().double().numpy()
