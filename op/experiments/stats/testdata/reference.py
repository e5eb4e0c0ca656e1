"""Answers questions of stats_reference_test.go, one JSON object a line, with the packages
krippendorff, scipy and choix."""
import json
import sys

import choix
import krippendorff
import numpy as np
from scipy import optimize, stats


def permuted(groups):
    """Returns the share of 20,000 permutations whose sums of ranks differ between the groups as much or more."""
    sizes = [len(g) for g in groups]
    starts = np.cumsum([0] + sizes[:-1])
    ranks = stats.rankdata(np.concatenate(groups))
    spread = lambda rows: (np.add.reduceat(rows, starts, axis=1) ** 2 / sizes).sum(axis=1)
    drawn = np.random.default_rng(5).permuted(np.tile(ranks, (20000, 1)), axis=1)
    return float((np.count_nonzero(spread(drawn) >= spread(ranks[None, :]) - 1e-9) + 1) / 20001)


def davidson(n, comparisons, weight):
    """The strengths of the model of Bradley and Terry with ties, as Davidson writes it: found by
    a general optimizer that knows the likelihood alone."""

    def negative(x):
        theta, eta = x[:n], x[n]
        total = weight * float(np.sum(x**2))
        for a, b, won in comparisons:
            u = np.array([theta[a], theta[b], eta + (theta[a] + theta[b]) / 2])
            i = 2 if won == -1 else 0 if won == a else 1
            total -= u[i] - np.logaddexp.reduce(u)
        return total + float(np.sum(theta)) ** 2

    found = optimize.minimize(negative, np.zeros(n + 1), method="BFGS", options={"gtol": 1e-9})
    theta = found.x[:n]
    return {"theta": list(theta - theta.mean()), "tie": float(np.exp(found.x[n]) / 2)}


def answer(q):
    kind = q["kind"]
    if kind == "alpha":
        data = [[np.nan if v is None else v for v in row] for row in q["ratings"]]
        return krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
    if kind == "kruskal":
        found = stats.kruskal(*q["groups"])
        return {"h": float(found.statistic), "p": float(found.pvalue), "permuted": permuted(q["groups"])}
    if kind == "bootstrap":
        found = stats.bootstrap((np.array(q["values"], float),), np.mean, n_resamples=40000, method="BCa", rng=np.random.default_rng(3))
        return {"low": float(found.confidence_interval.low), "high": float(found.confidence_interval.high)}
    if kind == "bradley-terry":
        theta = choix.opt_pairwise(q["n"], [tuple(p) for p in q["wins"]], alpha=q["weight"], tol=1e-10)
        return {"theta": list(np.asarray(theta) - np.mean(theta))}
    if kind == "davidson":
        return davidson(q["n"], q["comparisons"], q["weight"])
    raise ValueError(kind)


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
