"""What pytest is not to import: modules for packages that are not installed."""

import importlib.util

MODULES = {"gpytorch": "spectralkit/torch/*", "dask": "spectralkit/dask.py"}

collect_ignore_glob = [path for package, path in MODULES.items() if not importlib.util.find_spec(package)]
