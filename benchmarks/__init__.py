"""Speed, accuracy and footprint of spectralkit beside scikit-learn's, as ratios: ``python -m benchmarks``."""
