"""Where positive random features can stand in for softmax attention, and where they cannot.

Attention of 256 queries to 256 keys in 64 dimensions, inputs of every length. Per length:

1. The relative error of single kernel values exp(q . k / sqrt(d)), predicted from the closed form and measured.
2. The same for FAVOR+ as its codebases publish it: a QR factor without the correction of signs, features of the plain
   exponential, and 1e-4 added to each.
3. The error of what attention returns, beside that of uniform attention, which returns the mean of all values.

Past a certain length the published features return the mean, because the constant that was added is all that is left of
them; their error then looks moderate. The closed form says beforehand where that happens.

Run it with ``python examples/performer.py``; it takes some seconds and draws ``examples/output/performer.png`` when
matplotlib is there.
"""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
from scipy.special import logsumexp, softmax

from spectralkit import ApproximationWarning, PositiveRandomFeatures

TOKENS, D, WIDTH, DRAWS, EPSILON = 256, 64, 256, 16, 1e-4
LENGTHS = np.array([0.5, 1, 2, 3, 4, 6, 8, 10, 12])  # of the vectors q and k, before the division by sqrt(sqrt(d))


def inputs(length):
    """Queries, keys and values; the first two of one length and independent directions."""
    queries, keys, values = np.random.default_rng(0).normal(size=(3, TOKENS, D))
    return *(length * rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (queries, keys)), values


def ours(queries, keys, seed):
    """Logarithms of features of queries and of keys, and the predicted relative variance of each pair."""
    features = PositiveRandomFeatures("softmax", n_components=WIDTH, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # the hopeless lengths are what this is about
        features.fit(np.concatenate([queries, keys]))
    return features.log_transform(queries), features.log_transform(keys), features


def favor_as_published(queries, keys, seed):
    """Features of performer-pytorch and of the JAX code, line by line: QR blocks, chi lengths, the maximum, epsilon."""
    rng = np.random.default_rng(seed)
    blocks = [np.linalg.qr(rng.normal(size=(D, D)))[0].T for _ in range(WIDTH // D)]
    projection = np.concatenate(blocks) * np.linalg.norm(rng.normal(size=(WIDTH, D)), axis=1, keepdims=True)

    def features(rows, axis):
        rows = rows / D**0.25
        exponents = rows @ projection.T
        half = (rows**2).sum(axis=1, keepdims=True) / 2
        return (np.exp(exponents - half - exponents.max(axis=axis, keepdims=True)) + EPSILON) / np.sqrt(WIDTH)

    return features(queries, 1), features(keys, None)


def attention_error(weights, exact, values):
    """Error of attention with these weights, relative to the size of what exact attention returns."""
    wanted = exact @ values
    return np.linalg.norm(weights @ values - wanted) / np.linalg.norm(wanted)


def measure(length):
    """Relative errors of kernel values (predicted, measured) and of attention (ours, published, uniform)."""
    queries, keys, values = inputs(length)
    logits = queries @ keys.T / np.sqrt(D)
    exact = softmax(logits, axis=1)
    squares, errors = [], []
    for seed in range(DRAWS):
        log_q, log_k, features = ours(queries, keys, seed)
        log_kernel = logsumexp(log_q[:16, None] + log_k[None, :16], axis=2)
        squares.append((np.exp(log_kernel - logits[:16, :16]) - 1) ** 2)
        largest = log_k.max(axis=0)  # cancels: what the keys lose, the queries gain
        products = softmax(log_q + largest, axis=1) @ np.exp(log_k - largest).T
        theirs_q, theirs_k = favor_as_published(queries, keys, seed)
        theirs = theirs_q @ theirs_k.T
        errors.append([attention_error(w / w.sum(axis=1, keepdims=True), exact, values) for w in (products, theirs)])
    predicted = np.sqrt(np.mean(features.relative_variance(queries[:16], keys[:16])))
    uniform = attention_error(np.full_like(exact, 1 / TOKENS), exact, values)
    return [predicted, np.sqrt(np.mean(squares)), *np.mean(errors, axis=0), uniform]


def main():
    results = np.array([measure(length) for length in LENGTHS])
    print(f"d = {D}, {WIDTH} features, {TOKENS} tokens, {DRAWS} draws")
    print(f"{'':8}{'kernel values, relative error':^32}{'attention, relative error':^36}")
    print(f"{'length':>8}{'predicted':>16}{'measured':>16}{'ours':>12}{'published':>12}{'uniform':>12}")
    for length, row in zip(LENGTHS, results, strict=True):
        print(f"{length:8.1f}{row[0]:16.3g}{row[1]:16.3g}{row[2]:12.3f}{row[3]:12.3f}{row[4]:12.3f}")
    predicted, measured, mine, published, uniform = results.T
    can_work, hopeless = LENGTHS <= 2, LENGTHS >= 10
    assert np.allclose(measured[can_work], predicted[can_work], rtol=0.1)
    assert (mine[can_work] < 0.6 * published[can_work]).all()
    assert (mine[can_work] < 0.5 * uniform[can_work]).all()
    assert np.allclose(published[hopeless], uniform[hopeless], rtol=0.02)  # only the constant is left
    assert (predicted[hopeless] > 100).all()  # and this said so
    if importlib.util.find_spec("matplotlib"):
        draw(results)


def draw(results):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    left.loglog(LENGTHS, results[:, 0], label="closed form")
    left.loglog(LENGTHS, results[:, 1], "o", label="measured")
    left.set(title="Kernel values", xlabel="length of queries and keys", ylabel="relative error")
    for column, label in ((2, "ours"), (3, "FAVOR+ as published"), (4, "uniform attention")):
        right.loglog(LENGTHS, results[:, column], "o-" if column < 4 else "--", label=label)
    right.set(title="Attention", xlabel="length of queries and keys", ylabel="relative error")
    for axis in (left, right):
        axis.legend()
    path = Path(__file__).parent / "output" / "performer.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"Drawn in {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
