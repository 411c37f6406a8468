"""Additive statistics of rows: everything that learns from many rows learns from these."""

from spectralkit.moments._attention import AttentionMoments, AttentionSums
from spectralkit.moments._columns import ColumnMoments
from spectralkit.moments._gram import GramMoments
from spectralkit.moments._regression import RegressionMoments
from spectralkit.moments._triangular import QRMoments

__all__ = ["AttentionMoments", "AttentionSums", "ColumnMoments", "GramMoments", "QRMoments", "RegressionMoments"]
