"""Golden numbers of the gate: quantiles, tolerance factors, threshold, shrinkage, rates of windows."""
import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, nct, norm

for p in (0.5, 0.4, 0.6, 0.01, 1e-4, 7e-5, 1e-12, 1 - 1e-6):
    print("quantile", p, repr(float(norm.isf(p))))

def factor(n, p, confidence=0.6):
    f = n - 1
    b = 1 - 1 / (4 * f) + 1 / (32 * f * f)
    delta, z = norm.isf(p) * np.sqrt(n), norm.ppf(confidence)
    root = np.sqrt(b * b + (1 - b * b) * (delta * delta - z * z))
    return (delta * b + z * root) / (b * b - z * z * (1 - b * b)) / np.sqrt(n)

for n, p in ((7, 1e-4), (13, 1e-4), (50, 1e-4), (200, 1e-2), (5, 7e-5)):
    exact = nct.ppf(0.6, n - 1, norm.isf(p) * np.sqrt(n)) / np.sqrt(n)
    print("factor", n, p, "%.5f exact %.5f" % (factor(n, p), exact))

y = np.array([3.0, 3.2, 3.1, 3.4, 2.9, 3.3, 3.0, 3.5])
mean, sd = y.mean(), y.std(ddof=1)
print("threshold %.6f %.6f %.5f" % (mean, sd, np.exp(mean + factor(7, 1e-4) * sd)))

v, known = np.array([0.04, 0.01, 0.0025]), np.array([0.02, 0.02, 0.01])
ratio = np.exp(np.mean(np.log(v / known)))
print("shrinkage %.6f" % ratio, np.maximum(v, (10 * v + 4 * ratio * known) / 14).round(6))

def rate(alarms, seconds, average=8, share=0.7, alike=3):
    windows = 365.25 * 86400 / seconds
    least = -(-int(np.ceil(average * share - 1e-9)) // alike)
    groups = -(-average // alike)
    tail = lambda x: np.log(windows / alike * binom.sf(least - 1, groups, np.exp(x)) / alarms)
    return np.exp(brentq(tail, -30, np.log(0.5), xtol=1e-14))

for arguments in ((1, 0.1536), (1, 0.256), (12, 0.1536), (0.1, 0.1536), (1, 60), (1, 0.1536, 16, 0.5)):
    print("rate", arguments, "%.6e" % rate(*arguments))
