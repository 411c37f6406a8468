"""What pytest is not to import: the GPyTorch kernels where GPyTorch is not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("gpytorch") else ["spectralkit/torch/*"]
