"""Golden numbers of Curve::fit: the same loss, minimised by scipy."""
import numpy as np
from scipy.optimize import minimize
points = [(0.95, 0.99), (0.9, 0.97), (0.6, 0.5), (0.85, 0.9), (0.97, 1.0)]
classes, a0, b0 = 13, -5.97, 9.81
def loss(x):
    a, b = x
    total = 0.01 * ((a - a0) ** 2 + (b - b0) ** 2 / 4)
    for q, y in points:
        p = 1 / classes + (1 - 1 / classes) / (1 + np.exp(-(a + b * q)))
        total -= y * np.log(p) + (1 - y) * np.log(1 - p)
    return total
print(minimize(loss, [a0, b0], method="Nelder-Mead", options=dict(xatol=1e-10, fatol=1e-14, maxiter=10000)).x)
