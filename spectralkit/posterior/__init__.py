"""From moments to coefficients, their uncertainty, and the choice of the penalty: the only solvers of the library."""

from spectralkit.posterior._dense import Posterior, solve
from spectralkit.posterior._leave_one_out import LeaveOneOut
from spectralkit.posterior._path import RidgePath

__all__ = ["LeaveOneOut", "Posterior", "RidgePath", "solve"]
