"""The order of the columns of a coordinate encoding: three choices, from which every codebase took another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# the order in which `spectralkit.maps.encoding` counts its waves, the slowest first
_AXES = ("function", "level", "column")
_FUNCTIONS = ("cos", "sin")
_INPUTS = ("first", "last", "per_column")


@dataclass(frozen=True)
class Layout:
    """The order of the output columns of `LadderFeatures`.

    Parameters
    ----------
    axes : tuple of str, default=("level", "function", "column")
        The three axes of the waves in some order, the slowest first: "level" is the frequency, "function" sine or
        cosine, "column" the column of X.
    functions : tuple of str, default=("sin", "cos")
        Which of the two comes first along its axis.
    inputs : {"first", "last", "per_column"}, default="first"
        Where the columns of X go, if they are included: before all waves, behind all waves, or each behind the waves of
        its own column, which "column" as the slowest axis makes possible.

    Raises
    ------
    ValueError
        If a choice is unknown, an axis or function is missing, or the inputs go "per_column" while "column" is not the
        slowest axis.

    Examples
    --------
    The pairs [cos, sin] of each frequency, column by column, with the coordinates last:

    >>> from spectralkit import LadderFeatures
    >>> from spectralkit.features import Layout
    >>> pairs = Layout(("column", "level", "function"), functions=("cos", "sin"), inputs="last")
    >>> LadderFeatures(2, layout=pairs).fit([[0.1, 0.2]]).get_feature_names_out().tolist()
    ['x0_cos0', 'x0_sin0', 'x0_cos1', 'x0_sin1', 'x1_cos0', 'x1_sin0', 'x1_cos1', 'x1_sin1', 'x0', 'x1']
    """

    axes: tuple[str, ...] = ("level", "function", "column")
    functions: tuple[str, ...] = ("sin", "cos")
    inputs: str = "first"

    def __post_init__(self) -> None:
        for name, known in (("axes", _AXES), ("functions", _FUNCTIONS)):
            given = getattr(self, name)
            if isinstance(given, str) or sorted(map(str, given)) != sorted(known):
                names = " and ".join(map(repr, known))
                raise ValueError(f"Layout: {name} must be {names} in some order, got {given!r}.")
            object.__setattr__(self, name, tuple(given))
        if self.inputs not in _INPUTS:
            raise ValueError(f"Layout: inputs must be one of {', '.join(map(repr, _INPUTS))}, got {self.inputs!r}.")
        if self.inputs == "per_column" and self.axes[0] != "column":
            raise ValueError(
                f"Layout: inputs='per_column' needs 'column' as the first of the axes, got {self.axes}. Put it there, "
                "or take inputs='first' or 'last'."
            )

    def _order(self, levels: int, columns: int, inputs: int) -> np.ndarray:
        """Where the output columns are found in [cosines | sines | inputs], which have all columns of a level together.

        A matrix of frequencies is one column of waves to us, whatever the number of inputs.
        """
        waves = np.arange(2 * levels * columns).reshape(2, levels, columns)
        places = waves.size + np.arange(inputs)
        waves = waves[[_FUNCTIONS.index(function) for function in self.functions]]
        waves = waves.transpose([_AXES.index(axis) for axis in self.axes])
        if not inputs:
            return waves.ravel()
        if self.inputs == "first":
            return np.concatenate([places, waves.ravel()])
        if self.inputs == "last":
            return np.concatenate([waves.ravel(), places])
        if columns != inputs:
            raise ValueError(
                "The layout puts each column of X behind its own waves, but those of a matrix of frequencies belong to "
                f"all {inputs} columns together. Use include_input=False, or a layout with inputs='first' or 'last'."
            )
        return np.concatenate([waves.reshape(columns, -1), places[:, None]], axis=1).ravel()


_RANDOM = Layout(("function", "level", "column"), inputs="last")

LAYOUTS = {
    "nerf": Layout(("level", "function", "column")),
    "mipnerf": Layout(("function", "level", "column")),
    "nerfstudio": Layout(("function", "column", "level"), inputs="last"),
    "tcnn": Layout(("column", "level", "function"), inputs="last"),
    "barf": Layout(("column", "function", "level")),
    "siren": Layout(("level", "column", "function")),
    "perceiver": Layout(("column", "function", "level"), inputs="per_column"),
    "tancik": _RANDOM,
    "sam": _RANDOM,
}


def as_layout(layout: Any) -> Layout:
    """The layout that a ``layout=`` argument means: itself, or the one of that name."""
    if isinstance(layout, Layout):
        return layout
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(map(repr, LAYOUTS))}, or a Layout, got {layout!r}.")
    return LAYOUTS[layout]
