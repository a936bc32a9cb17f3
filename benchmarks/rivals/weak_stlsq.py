"""PySINDy's weak-form STLSQ on trajectories that another process wrote; runs in .venv-pysindy, without this project.

    .venv-pysindy/bin/python benchmarks/rivals/weak_stlsq.py speed|recovery TRAJECTORIES.npz ANSWER.npz

TRAJECTORIES holds x (N,), t (T,) and u (E, T, N). Tests are PySINDy's own: 100 random subdomains, polynomial weights of
degree 4, half width a sixth of the period in space and .35 of the window in time (its default half width, a twentieth,
never finds two time points in a subdomain of a grid of seven); ridge 1e-8; u to the third power times up to three
derivatives, 16 features.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pysindy
from numpy.typing import NDArray
from pysindy.utils import AxesArray

SUBDOMAINS, DEGREE, RIDGE = 100, 4, 1e-8
WIDTH_X, WIDTH_T = 1 / 6, 0.35
THRESHOLDS = (0.01, 0.02, 0.04)
COUNTS = (7, 25)
NAMES = {"u_1": "u_x", "u_11": "u_xx", "u_111": "u_xxx", "uu_1": "u u_x"}
SMALL = ("1", "u", "u^2", "u^3", "u_x", "u_xx", "u_xxx", "u u_x")
TIMED = 0.02
REPEATS = 5


def library(x: NDArray[np.float64], t: NDArray[np.float64], seed: int) -> pysindy.WeakPDELibrary:
    np.random.seed(seed)  # noqa: NPY002 - PySINDy draws its subdomains from numpy's global state
    length = x.size * (x[1] - x[0])
    return pysindy.WeakPDELibrary(
        function_library=pysindy.PolynomialLibrary(degree=3, include_bias=False),
        derivative_order=3,
        spatiotemporal_grid=np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1),
        include_bias=True,
        K=SUBDOMAINS,
        H_xt=[WIDTH_X * length, WIDTH_T * (t[-1] - t[0])],
        p=DEGREE,
    )


def speed(x: NDArray[np.float64], t: NDArray[np.float64], u: NDArray[np.float64]) -> dict[str, object]:
    """CPU seconds of one fit on 25 samples and on all of them, and of building the library; medians."""
    answer: dict[str, object] = {}
    for name, stride in (("25", (t.size - 1) // 24), ("all", 1)):
        times, build, fit = t[::stride], [], []
        for repeat in range(REPEATS):
            start = time.process_time()
            features = library(x, times, repeat)
            build.append(time.process_time() - start)
            model = pysindy.SINDy(feature_library=features, optimizer=pysindy.STLSQ(threshold=TIMED, alpha=RIDGE))
            values = u[0, ::stride].T[:, :, None]
            start = time.process_time()
            model.fit(values, t=times, feature_names=["u"])
            fit.append(time.process_time() - start)
        answer |= {f"fit {name}": statistics.median(fit), f"build {name}": statistics.median(build)}
    return answer


def recovery(x: NDArray[np.float64], t: NDArray[np.float64], u: NDArray[np.float64]) -> dict[str, object]:
    """Which features each setting keeps: (counts, libraries of 16 and 8, thresholds, E, 16), and all names."""
    names: list[str] = []
    kept = np.zeros((len(COUNTS), 2, len(THRESHOLDS), len(u), 16), dtype=bool)
    for c, count in enumerate(COUNTS):
        stride = (t.size - 1) // (count - 1)
        for e in range(len(u)):
            features = library(x, t[::stride], e)
            values = np.ascontiguousarray(u[e, ::stride].T[:, :, None])
            field = AxesArray(values, {"ax_spatial": [0], "ax_time": 1, "ax_coord": 2})
            theta = np.asarray(features.fit_transform([field])[0])
            target = features.convert_u_dot_integral(values)
            names = [NAMES.get(name, name) for name in features.get_feature_names(["u"])]
            small = [names.index(name) for name in SMALL]
            for s, columns in enumerate((list(range(len(names))), small)):
                for h, threshold in enumerate(THRESHOLDS):
                    fitted = pysindy.STLSQ(threshold=threshold, alpha=RIDGE).fit(theta[:, columns], target)
                    kept[c, s, h, e, columns] = np.abs(fitted.coef_[0]) > 0
    return {"kept": kept, "names": names, "thresholds": THRESHOLDS, "counts": COUNTS}


def main() -> None:
    what, trajectories, answer = sys.argv[1:]
    with np.load(Path(trajectories)) as archive:
        x, t, u = (archive[name] for name in ("x", "t", "u"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a threshold that leaves no feature warns; the answer says it
        found = {"speed": speed, "recovery": recovery}[what](x, t, u)
    np.savez(Path(answer), **found)  # type: ignore[arg-type]  # plain numbers become arrays


if __name__ == "__main__":
    main()
