"""Tables whose target is a class."""

from string import ascii_uppercase

import numpy as np

from spectralkit.datasets import _description
from spectralkit.datasets._load import Loaded, hand_out, read_arrays


def load_letters(*, return_X_y: bool = False, as_frame: bool = False) -> Loaded:
    """Load the letter recognition data: sixteen numbers from the image of a capital letter, the letter.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return a pandas DataFrame and Series instead of arrays.

    Returns
    -------
    Bunch or tuple
        A Bunch with the entries

        data : ndarray or DataFrame of shape (20000, 16)
            The features, float64, of which the integers 0 to 15 occur.
        target : ndarray of str or Series of shape (20000,)
            The letter, A to Z: a class.
        feature_names : list of str
            Names of the columns of ``data``.
        target_names : list of str
            Name of the target, ``["letter"]``.
        units : dict of str to str
            Unit or meaning of each feature and of the target.
        DESCR : str
            Description, units, source, licence, changes and citation as plain text.
        frame : DataFrame or None
            Features and target in one table; only with ``as_frame=True``.

        or the pair ``(data, target)`` with ``return_X_y=True``.

    Notes
    -----
    Units: none; moments and counts of edges of black-and-white images in 20 fonts, distorted at random, each scaled to
    the integers 0 to 15. Each letter has 734 to 813 rows. 1332 rows repeat an earlier row, always with the same letter.
    The rows are not in the order in which they were published: the usual split into the first 16000 and the last 4000
    is another one here.

    Source: D. J. Slate, UCI Machine Learning Repository. Licence: CC BY 4.0. Changes: none to the values; the rows are
    in another order, and hyphens in the names of the columns became underscores. See [1]_ and [2]_.

    References
    ----------
    .. [1] D. Slate (1991). Letter Recognition [Dataset]. UCI Machine Learning Repository.
       https://doi.org/10.24432/C5ZP40
    .. [2] P. W. Frey and D. J. Slate (1991). Letter recognition using Holland-style adaptive classifiers. Machine
       Learning 6 (2), 161-182.

    Examples
    --------
    >>> from spectralkit.datasets import load_letters
    >>> letters = load_letters()
    >>> width = letters.data[:, letters.feature_names.index("width")]
    >>> for letter in "IW":
    ...     print(letter, f"{width[letters.target == letter].mean():.1f}")
    I 2.6
    W 6.5
    """
    arrays = read_arrays("uci_letter")
    return hand_out(
        _description.LETTERS,
        arrays["X"],
        np.array(list(ascii_uppercase))[arrays["y"].astype(int)],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )
