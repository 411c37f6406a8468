"""What the coordinate encodings of public codebases are, in the parameters of `LadderFeatures`.

Each function has the options of its origin, under their names there and the number of frequencies first, and returns
constructor arguments. What they mean is said in `LadderFeatures.preset`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from spectralkit._validation import is_integer, is_positive_number
from spectralkit.rules import nodes
from spectralkit.spectra import Gaussian

_RADIAN = 1 / (2 * math.pi)  # in turns


def _nerf(multires: int = 10, log_sampling: bool = True) -> dict[str, Any]:
    params: dict[str, Any] = {"unit": 1, "include_input": True, "layout": "nerf"}
    if log_sampling:
        return params | {"frequencies": multires}
    _check_counts(multires=multires)
    return _in_cycles(params, _RADIAN * np.linspace(1.0, 2.0 ** (multires - 1), multires))


def _mipnerf(max_deg: int = 16, min_deg: int = 0) -> dict[str, Any]:
    params: dict[str, Any] = {"unit": 1, "include_input": False, "layout": "mipnerf"}
    if min_deg == 0:
        return params | {"frequencies": max_deg}
    if not (is_integer(min_deg, at_least=-1000) and is_integer(max_deg, at_least=int(min_deg) + 1)):
        raise ValueError(f"min_deg and max_deg must be integers, the first lower, got {min_deg!r} and {max_deg!r}.")
    return _in_cycles(params, _RADIAN * 2.0 ** np.arange(min_deg, max_deg))


def _nerfstudio(num_frequencies: int = 10, min_freq_exp: float = 0.0, max_freq_exp: float = 8.0) -> dict[str, Any]:
    _check_counts(num_frequencies=num_frequencies)
    frequencies = 2.0 ** np.linspace(min_freq_exp, max_freq_exp, num_frequencies)
    return {"frequencies": frequencies, "include_input": False, "layout": "nerfstudio"}


def _tcnn(n_frequencies: int = 12) -> dict[str, Any]:
    return {"frequencies": n_frequencies, "unit": "pi", "include_input": False, "layout": "tcnn"}


def _barf(L: int = 10) -> dict[str, Any]:
    return {"frequencies": L, "unit": "pi", "include_input": False, "layout": "barf"}


def _siren(num_frequencies: int | None = None, samples: int | None = None) -> dict[str, Any]:
    if samples is not None:
        if num_frequencies is not None:
            raise ValueError("samples chooses the number of frequencies; give it or num_frequencies, not both.")
        if not is_integer(samples, at_least=8):
            raise ValueError(f"samples must be an integer of at least 8, for one octave, got {samples!r}.")
        num_frequencies = int(samples // 4).bit_length() - 1  # floor(log2(samples / 4))
    count = 10 if num_frequencies is None else num_frequencies
    return {"frequencies": count, "unit": "pi", "include_input": True, "layout": "siren"}


def _perceiver(num_bands: int = 6, max_freq: float = 10.0) -> dict[str, Any]:
    _check_counts(num_bands=num_bands)
    _check_positive(max_freq=max_freq)
    frequencies = np.linspace(1.0, max_freq / 2, num_bands) / 2
    return {"frequencies": frequencies, "include_input": True, "layout": "perceiver"}


def _tancik(
    mapping_size: int | None = None, scale: float | None = None, d: int = 2, B: Any = None, random_state: Any = None
) -> dict[str, Any]:
    B = _matrix(B, {"mapping_size": mapping_size, "scale": scale}, (256, 10.0), d, random_state)
    return {"frequencies": B.T, "include_input": False, "layout": "tancik"}


def _sam(
    num_pos_feats: int | None = None, scale: float | None = None, B: Any = None, random_state: Any = None
) -> dict[str, Any]:
    B = _matrix(B, {"num_pos_feats": num_pos_feats, "scale": scale}, (64, 1.0), 2, random_state)
    # 2 pi (2 u - 1) B = 2 pi (u - 1/2) (2 B)
    return {"frequencies": 2 * B.T, "origin": 0.5, "include_input": False, "layout": "sam"}


PRESETS: dict[str, Callable[..., dict[str, Any]]] = {
    "nerf": _nerf,
    "mipnerf": _mipnerf,
    "nerfstudio": _nerfstudio,
    "tcnn": _tcnn,
    "barf": _barf,
    "siren": _siren,
    "perceiver": _perceiver,
    "tancik": _tancik,
    "sam": _sam,
}


def preset_params(name: Any, options: dict[str, Any], constructor: list[str]) -> dict[str, Any]:
    """Constructor arguments of a preset; `options` are those of its origin or arguments of the constructor."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"There is no preset {name!r}; the presets are {', '.join(map(repr, PRESETS))}.")
    origin = list(inspect.signature(PRESETS[name]).parameters)
    unknown = [option for option in options if option not in [*origin, *constructor]]
    if unknown:
        raise TypeError(
            f"Preset {name!r} has no option {unknown[0]!r}. It has {', '.join(origin)}, and the parameters of the "
            f"constructor, {', '.join(constructor)}."
        )
    given = {option: value for option, value in options.items() if option in origin}
    changes = {option: value for option, value in options.items() if option not in origin}
    if "frequencies" in changes:
        is_count = np.ndim(changes["frequencies"]) == 0 and not hasattr(changes["frequencies"], "atoms")
        replaced = [option for option in given if option == origin[0] or not is_count]
        if replaced:
            raise ValueError(
                f"frequencies takes the place of {' and '.join(replaced)} in preset {name!r}; give one or the other."
            )
        if is_count:
            given[origin[0]] = changes.pop("frequencies")
        else:
            return _in_cycles(PRESETS[name](), None) | changes
    return PRESETS[name](**given) | changes


def _in_cycles(params: dict[str, Any], frequencies: Any) -> dict[str, Any]:
    """The same with frequencies in place of octaves: they need no unit."""
    return {key: value for key, value in params.items() if key != "unit"} | {"frequencies": frequencies}


def _matrix(B: Any, given: dict[str, Any], defaults: tuple[int, float], d: int, random_state: Any) -> np.ndarray:
    """B (d, m) as it was given, or of independent normal frequencies; `given` is what tells their number and scale."""
    if B is not None:
        stated = [name for name, value in given.items() if value is not None]
        if stated:
            raise ValueError(f"B is the matrix itself, so {' and '.join(stated)} cannot be given beside it.")
        B = np.asarray(B)
        if B.ndim != 2:
            raise ValueError(f"B must have shape (d, m), one row for each column of X, got {B.shape}.")
        return B
    (count_name, count), (scale_name, scale) = given.items()
    count, scale = defaults[0] if count is None else count, defaults[1] if scale is None else scale
    _check_counts(**{count_name: count})
    _check_positive(**{scale_name: scale})
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    return nodes(Gaussian(scale), 2 * count, d, "iid", seed).frequencies.T


def _check_counts(**counts: Any) -> None:
    for name, count in counts.items():
        if not is_integer(count, at_least=1):
            raise ValueError(f"{name} must be an integer of at least 1, got {count!r}.")


def _check_positive(**numbers: Any) -> None:
    for name, number in numbers.items():
        if not is_positive_number(number):
            raise ValueError(f"{name} must be a positive finite number, got {number!r}.")
