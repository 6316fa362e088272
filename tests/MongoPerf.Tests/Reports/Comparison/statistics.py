#!/usr/bin/python3
"""What statistics.json holds: rows of values, and what the statistics of reports come to for each, by their definitions.

Needs numpy and scipy. Run it here: ./statistics.py > statistics.json. Numbers are compared to nine digits, so nothing
depends on the machine.
"""
import json
import math
import sys

import numpy as np
from scipy import optimize, stats


def noise(seed, count, deviation, correlation=0.0):
    drawn = np.random.default_rng(seed).normal(0, deviation, count)
    for i in range(1, count):
        drawn[i] = correlation * drawn[i - 1] + math.sqrt(1 - correlation**2) * drawn[i]
    return drawn


def rows():
    def row(name, level, seed, deviation=0.03, correlation=0.0):
        level = np.asarray(level, dtype=float)
        values = 1000 * level * np.exp(noise(seed, len(level), deviation, correlation))
        return name, [float(f"{v:.6g}") for v in values]

    at = np.arange
    yield row("flat", np.ones(60), 1)
    yield row("flat, correlated", np.ones(90), 2, 0.05, 0.7)
    yield row("flat, short", np.ones(20), 3)
    yield row("higher at the end", 1 + 0.3 * (at(60) >= 40), 4)
    yield row("lower at the beginning", 1 - 0.4 * (at(50) < 12), 5)
    yield row("stretch", 1 - 0.35 * ((at(80) >= 30) & (at(80) < 47)), 6)
    yield row("stretch, correlated", 1 - 0.5 * ((at(120) >= 70) & (at(120) < 100)), 7, 0.05, 0.5)
    yield row("short stretch", 1 - 0.5 * ((at(40) >= 17) & (at(40) < 23)), 8)
    yield row("long first part", 1 - 0.3 * (at(70) >= 20), 9)
    yield row("two stretches", 1 - 0.3 * ((at(100) >= 20) & (at(100) < 35)) + 0.4 * ((at(100) >= 60) & (at(100) < 80)), 10, 0.02)
    yield row("two stretches, one plainer", 1 - 0.6 * ((at(200) >= 20) & (at(200) < 50)) - 0.2 * ((at(200) >= 120) & (at(200) < 160)), 31)
    yield row("outlier", 1 - 0.9 * (at(30) == 11), 11)
    yield row("slope", np.exp(-0.01 * at(60)), 12)
    yield row("rising slope", np.exp(0.02 * at(30)), 13)
    yield row("falling steadily, few", np.exp(-0.1 * at(8)), 14)
    yield row("period 8", 1 + 0.3 * np.cos(2 * math.pi * at(80) / 8), 15)
    yield row("period 10.4", np.exp(0.25 * np.sin(2 * math.pi * at(130) / 10.4)), 16, 0.05)
    yield row("period of spikes", 1 - 0.6 * (at(90) % 15 == 3), 17)
    yield row("period on a slope", np.exp(-0.004 * at(120)) * (1 + 0.2 * np.cos(2 * math.pi * at(120) / 12)), 18)
    yield row("wave of one half", 1 + 0.4 * np.where(at(80) < 40, np.cos(2 * math.pi * at(80) / 8), 0), 19)
    yield row("cliff, few", [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5], 20, 0.01)
    yield row("cliff late", [1, 1.01, 1, 0.99, 1, 1, 0.6, 0.55, 0.56], 21, 0.01)
    yield row("step within a fall", [1, 0.95, 0.9, 0.86, 0.6, 0.57, 0.54, 0.5, 0.47, 0.45], 22, 0.005)
    yield row("gradual fall", np.linspace(1, 0.3, 12), 23, 0.01)
    yield row("fall over three sizes", [1, 1, 1, 1, 0.85, 0.7, 0.5, 0.5, 0.5, 0.5, 0.5], 24, 0.01)
    yield row("bend", np.exp(-0.15 * np.maximum(0, at(10) - 5)), 25, 0.01)
    yield row("bend upwards", np.exp(0.2 * np.maximum(0, at(9) - 3)), 26, 0.01)
    yield row("many values", 1 - 0.2 * ((at(700) >= 500) & (at(700) < 600)), 27, 0.05, 0.3)
    yield row("six", [1, 1, 1, 0.7, 0.7, 0.7], 28, 0.01)
    yield row("five", np.ones(5), 29)
    yield "equal", [1000.0] * 24
    yield "alternating", [1000.0, 1100.0] * 20
    yield row("history", [1] * 9 + [1.2] * 8 + [0.9] * 10, 30, 0.01)


def median(values):
    return float(np.median(values))


def joined(values, most):
    if len(values) <= most:
        return np.asarray(values, dtype=float)
    return np.array([np.mean(values[i * len(values) // most : (i + 1) * len(values) // most]) for i in range(most)])


def first_order(windows):
    windows = [np.asarray(w, dtype=float) for w in windows if len(w) > 1]
    relative = [(w - w.mean()) / w.mean() for w in windows]
    squares = sum(float(r @ r) for r in relative)
    if squares == 0:
        return 0.0
    products = sum(float(r[1:] @ r[:-1]) for r in relative)
    length = sum(map(len, windows)) / len(windows)
    return min(0.95, max(0.0, (length * products / squares + 1) / max(1, length - 4)))


def inflation(correlation, count):
    """By the sum of all covariances; between whole numbers of values by the closed form of the sum."""
    if count == int(count):
        lags = np.arange(1, int(count))
        return max(1.0, float(1 + 2 / count * np.sum((count - lags) * correlation**lags)))
    left = 1 - correlation
    return max(1.0, (1 + correlation) / left - 2 * correlation * (1 - correlation**count) / (count * left * left))


def trend(values):
    if len(values) < 6:
        return None
    y = np.log(joined(values, 300))
    n = len(y)
    i, k = np.triu_indices(n, 1)
    slopes = np.sort((y[k] - y[i]) / (k - i))
    rises = float(np.sum(np.sign(y[k] - y[i])))
    slope = slopes[len(slopes) // 2]
    grown = inflation(6 / math.pi * math.asin(first_order([np.exp(y - slope * np.arange(n))]) / 2), n)
    deviation = math.sqrt(grown * n * (n - 1) * (2 * n + 5) / 18)
    freedom = max(3, n / grown - 2)
    reach = deviation * stats.t.ppf(0.975, freedom) / 2
    low, high = (slopes[int(min(len(slopes) - 1, max(0, len(slopes) / 2 + r)))] for r in (-reach, reach))
    z = -max(0, abs(rises) - 1) / deviation
    p = 2 * (stats.norm.cdf(z) if n < 30 else stats.t.cdf(z, freedom))
    at = np.arange(n)
    line = np.polyval(np.polyfit(at, y, 1), at)
    whole = float(np.sum((y - y.mean()) ** 2))
    by_line = whole - float(np.sum((y - line) ** 2))
    by_step = max(whole - sum(float(np.sum((part - part.mean()) ** 2)) for part in (y[:s], y[s:])) for s in range(1, n))
    return [math.exp(slope * (n - 1)), math.exp(low * (n - 1)), math.exp(high * (n - 1)), p, 1 if by_line > by_step else 0]


def lengths(n):
    length = 5.0
    while length <= n - 5:
        yield int(length)
        length *= 1.3


def farthest(y):
    n = len(y)

    def score(a, b):
        if b - a < 5 or n - (b - a) < 5:
            return -1
        inside, outside = y[a:b], np.concatenate([y[:a], y[b:]])
        return abs(inside.mean() - outside.mean()) * math.sqrt((b - a) * (n - b + a) / n)

    best = (-1, 0, 5)

    def try_(a, b):
        nonlocal best
        s = score(a, b)
        if s > best[0]:
            best = (s, a, b)

    for length in lengths(n):
        for a in range(n - length + 1):
            try_(a, a + length)
    for _ in range(2):
        _, a0, b0 = best
        room = 1 + (b0 - a0) // 2
        for a in range(max(0, a0 - room), a0 + room + 1):
            try_(a, b0)
        start = best[1]
        for b in range(b0 - room, min(n, b0 + room) + 1):
            try_(start, b)
    _, a, b = best
    half = n // 2
    return (b, n) if a == 0 and b > half else (0, a) if b == n and a < half else (a, b)


def clamped(y):
    m = median(y)
    d = max(0.002, 1.4826 * median(np.abs(y - m)))
    return np.clip(y, m - 10 * d, m + 10 * d)


def is_change(y, at, length):
    if at in (0, len(y)):
        return True
    near = min(50, max(5, length))
    first = max(0, at - near)
    part = y[first : at + near]
    u = np.cumsum([np.sum(np.sign(v - part)) for v in part[:-1]])
    return abs(first + int(np.argmax(np.abs(u))) + 1 - at) <= max(2, length // 4)


def level_shift(values, level):
    n = len(values)
    if n < 20:
        return None
    y = np.log(values)
    c = clamped(y)
    a, b = farthest(c)
    if not is_change(c, a, b - a) or not is_change(c, b, b - a):
        return None
    if a == 0 or b == n:
        at, half = np.arange(n), a or b
        line = np.polyval(np.polyfit(at, c, 1), at)
        if np.sum((c - line) ** 2) <= sum(np.sum((p - p.mean()) ** 2) for p in (c[:half], c[half:])):
            return None
    rest = clamped(np.concatenate([y[:a], y[b:]]))
    y = np.concatenate([rest[:a], clamped(y[a:b]), rest[a:]])
    inside, outside = y[a:b], np.concatenate([y[:a], y[b:]])
    difference = inside.mean() - outside.mean()
    parts = [y[:a], inside, y[b:]]
    r = first_order([np.exp(p) for p in parts if len(p) >= 5])
    left = y - np.where((np.arange(n) >= a) & (np.arange(n) < b), inside.mean(), outside.mean())
    length = b - a
    variance = max(0.002**2, float(left @ left) / max(1, n - 2)) / max(0.1, 1 - inflation(r, n) / n)
    block = min(length, n // 8)
    wandering = 1.0
    if block >= 2:
        means = np.array([left[i : i + block].mean() for i in range(0, n - block + 1, block)])
        wandering = max(1.0, float(means @ means) / len(means) / (variance * inflation(r, block) / block))
    both = variance * wandering * (inflation(r, length) / length + inflation(r, n - length) / (n - length))
    own = 0.015**2 / (1 + max(0, n / length - 2) / 2)
    error = math.sqrt(both + own)
    freedom = max(3, n / inflation(r * r, n) - 2)
    stretches = sum(2.0 * (n - l + 1) / l for l in lengths(n))
    p = min(1, 2 * stretches * 2 * stats.t.cdf(-abs(difference) / error, freedom))
    if p >= level:
        return None
    reach = error * stats.t.ppf(0.975, freedom)
    ratio = np.mean(values[a:b]) / np.mean(np.concatenate([values[:a], values[b:]]))
    return [a, b, ratio, ratio * math.exp(-reach), ratio * math.exp(reach), p]


def level_shifts(values):
    rest, found = np.array(values, dtype=float), []
    while len(found) < 3 and (shift := level_shift(rest, 0.01)) and abs(shift[2] - 1) >= 0.05:
        found.append(shift)
        rest[shift[0] : shift[1]] /= shift[2]
    return found


def period(values, level):
    if len(values) < 40:
        return None
    y = np.log(joined(values, 4096))
    n = len(y)
    at = np.arange(n)
    left = y - np.polyval(np.polyfit(at, y, 1), at)
    squares = float(left @ left)
    if squares < 1e-20:
        return None
    c = [float(left[lag:] @ left[: n - lag]) / squares * n / (n - lag) for lag in range(int(n / 3.5) + 1)]
    r = min(0.9, max(0, c[1]))
    needed = max(0.3, 3.5 * math.sqrt((1 + r * r) / (1 - r * r) / n))
    peaks, lowest = [], 1
    for lag in range(1, len(c) - 1):
        lowest = min(lowest, c[lag])
        if lag >= 4 and c[lag] >= needed and c[lag - 1] < c[lag] >= c[lag + 1] and c[lag] - lowest >= needed:
            peaks.append(lag)
    if not peaks:
        return None
    lag = next(one for one in peaks if c[one] >= 0.8 * max(c[p] for p in peaks))
    bins = min(24, lag)
    # The top of the parabola through the peak and its neighbours.
    a, b, _ = np.polyfit([-1, 0, 1], c[lag - 1 : lag + 2], 2)
    exact = lag + min(0.5, max(-0.5, -b / (2 * a)))

    def bin_of(i):
        return (np.mod(i, exact) / exact * bins).astype(int) % bins

    def fold(part, start=0):
        where = bin_of(np.arange(len(part)) + start)
        return np.array([part[where == one].mean() if (where == one).any() else 0 for one in range(bins)])

    profile = fold(left)
    explained = 1 - float(np.sum((left - profile[bin_of(at)]) ** 2)) / squares
    f = explained / (bins - 1) / max(1e-12, (1 - explained) / (n - bins))
    p = len(c) * stats.f.sf(f, bins - 1, n - bins)
    alike = np.corrcoef(fold(left[: n // 2]), fold(left[n // 2 :], n // 2))[0, 1]
    if p >= level or alike < 0.6:
        return None
    return [exact * len(values) / n, (math.exp(profile.max()) - math.exp(profile.min())) / 2, explained]


def size_step(values, level, least):
    n = len(values)
    if n < 6:
        return None
    y = np.log(values)
    squares = lambda part: float(np.sum((part - part.mean()) ** 2))
    place = min(range(2, n - 1), key=lambda k: squares(y[:k]) + squares(y[k:]))
    deviation = max(0.01, math.sqrt((squares(y[:place]) + squares(y[place:])) / (n - 3)))
    t = (y[place:].mean() - y[:place].mean()) / (deviation * math.sqrt(1 / place + 1 / (n - place)))
    p = min(1, (n - 3) * stats.t.cdf(t, n - 3))
    before = lambda k: y[max(0, k - 3) : k]
    after = lambda k: y[k : k + 3]
    places = [k for k in range(2, n - 1) if after(k).max() < before(k).min()]
    if p >= level or not places:
        return None
    k = min(places, key=lambda k: median(np.subtract.outer(after(k), before(k))) + y[k] - y[k - 1])
    if abs(k - place) > max(2, n // 8):
        return None
    high, low = median(before(k)), median(after(k))
    fall = high - low
    if fall < -math.log(1 - least):
        return None
    first = max([0] + [i for i in range(k) if y[i] >= high - fall / 4])
    last = min(i for i in range(k, n) if y[i] <= low + fall / 4)
    whole = y[: min(3, first + 1)].max() - median(y[-3:])
    cliff = fall >= 0.6 * whole and last - first <= max(2, n // 4)
    return [first, last, math.exp(high), math.exp(low), 1 if cliff else 0]


def bend(values):
    n = len(values)
    if n < 6 or len(set(values)) == 1:
        return None
    y = np.log(values)
    best = None
    for start in range(n - 3):
        x = np.maximum(0, np.arange(n) - start)
        slope, level = np.polyfit(x, y, 1)
        explained = np.corrcoef(level + slope * x, y)[0, 1] ** 2
        if best is None or explained > best[0] + 1e-12:
            f = explained * (n - 2) / max(1 - explained, 1e-12)
            best = explained, [start, math.exp(slope * x[-1]), min(1, (n - 3) * stats.f.sf(f, 1, n - 2))]
    return best[1]


def signs(values):
    steps = [s for s in np.sign(np.diff(values)) if s != 0]
    if not steps:
        return 1.0
    return stats.binomtest(sum(s > 0 for s in steps), len(steps)).pvalue


def changes(values):
    """Where splits are plainest by energy distance, if no permutation is as plain; None where a few are, as the other draws others."""
    random = np.random.default_rng(0)

    def best(values, bounds):
        found = (0, 0)
        for a, b in zip(bounds, bounds[1:]):
            part = values[a:b]
            distance = np.abs(np.subtract.outer(part, part))
            for left in range(2, len(part) - 1):
                right = len(part) - left
                within, beyond = distance[:left, :left].sum() / (left * (left - 1)), distance[left:, left:].sum() / (right * (right - 1))
                energy = 2 * distance[:left, left:].mean() - within - beyond
                if left * right / len(part) * energy > found[0]:
                    found = left * right / len(part) * energy, a + left
        return found

    values, found = np.array(values), []
    while True:
        bounds = [0, *sorted(found), len(values)]
        score, at = best(values, bounds)
        shuffled, plain = values.copy(), 0
        for _ in range(200):
            for a, b in zip(bounds, bounds[1:]):
                shuffled[a:b] = random.permutation(shuffled[a:b])
            plain += best(shuffled, bounds)[0] >= score * (1 - 1e-9)
        if score > 0 and 0 < plain < 20:
            return None
        if score <= 0 or plain > 0:
            return sorted(found)
        found.append(at)


def known(values, inside, beside=None):
    """Generalised least squares with the noise's whole covariance, by restricted likelihood: the largest p that fits."""
    at = np.array([i for i in range(len(values)) if inside[i] is not None])
    y = np.log(np.array(values)[at])
    columns = [np.ones(len(at)), np.array([1.0 if inside[i] else 0.0 for i in at])]
    if beside is not None:
        columns.append(np.log(np.array(beside)[at]))
    x = np.column_stack(columns)
    n, k = x.shape
    fits = []
    for r in [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]:
        distance = np.abs(np.subtract.outer(at, at))
        covariance = np.where(distance == 0, 1.0, float(r) ** distance) / (1 - r * r)
        inverse = np.linalg.inv(covariance)
        information = x.T @ inverse @ x
        b = np.linalg.solve(information, x.T @ inverse @ y)
        left = y - x @ b
        squares = float(left @ inverse @ left)
        likelihood = (-np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(information)[1] - (n - k) * math.log(squares)) / 2
        error = math.sqrt(squares / (n - k) * np.linalg.inv(information)[1, 1])
        fits.append((likelihood, 2 * stats.t.cdf(-abs(b[1]) / error, n - k)))
    best = max(f[0] for f in fits)
    return max(p for likelihood, p in fits if likelihood >= best - 1)


def rank_test(pairs):
    r = 6 / math.pi * math.asin(first_order([w for pair in pairs for w in pair]) / 2)
    total = variance = independent = 0.0
    for first, second in pairs:
        n, m = len(first), len(second)
        together = np.concatenate([first, second])
        ranks = stats.rankdata(together)
        # The variance of a rank sum without replacement, ties and all.
        of_excess = n * m / (n + m - 1) * np.mean((ranks - ranks.mean()) ** 2)
        grown = inflation(r, (n + m) / 2)
        total += (ranks[:n].sum() - n * (n + m + 1) / 2) / (n + m + 1)
        variance += grown * of_excess / (n + m + 1) ** 2
        independent += (n + m) / grown
    return 1.0 if variance <= 0 else 2 * stats.t.cdf(-abs(total) / math.sqrt(variance), max(1, independent - 2))


def power_sum(n, s):
    """1 + 2^-s + ... + n^-s; of very many the rest by Euler and Maclaurin."""
    most = int(min(n, 100_000))
    total = float(np.sum(np.arange(1, most + 1, dtype=float) ** -s))
    if n > most:
        total += (n ** (1 - s) - most ** (1 - s)) / (1 - s) + (n**-s - most**-s) / 2
    return total


def cardinality(counts, total):
    """Values drawn from a zipfian: how many there are, of how many they were drawn, and how unevenly, by sums over all ranks."""
    counts = np.array(counts, dtype=float)
    values, seen = counts.sum(), len(counts)
    repeat = float(np.sum(counts * (counts - 1)) / (values * (values - 1)))
    most = 20 * total

    def expected(distinct, theta, draws):
        ranks = np.arange(1, int(distinct) + 1, dtype=float) ** -theta
        chances = ranks / ranks.sum()
        rest = distinct - int(distinct)
        return float(np.sum(1 - np.exp(-draws * chances))) + rest * (1 - math.exp(-draws * chances[-1]))

    def root(f, low, high, value):
        return high if f(high) <= value else low if f(low) >= value else optimize.brentq(lambda x: f(x) - value, low, high, rtol=1e-6)

    drawn_of = lambda theta: root(lambda d: expected(d, theta, values), seen, most, seen)
    same = lambda distinct, theta: power_sum(distinct, 2 * theta) / power_sum(distinct, theta) ** 2
    theta, drawn = 0.0, drawn_of(0)
    for _ in range(4):
        theta = 0 if drawn < 2 or drawn >= most or repeat < 1.1 / drawn else root(lambda t: same(drawn, t), 0, 0.999, repeat)
        if theta <= 0:
            break
        drawn = drawn_of(theta)
    if 0 < theta < 0.15:
        theta, drawn = 0, drawn_of(0)
    distinct = seen if values >= total * 0.999 else total if drawn >= most else min(total, max(seen, expected(drawn, theta, total)))
    return [distinct, drawn, theta]


def key_choice(frequencies, population):
    """Uniform, or zipfian with what theta, of ranks as they are or YCSB's: the likelihood of how often keys came, key by key."""
    draws = sum(times * keys for times, keys in frequencies)
    came = sum(keys for _, keys in frequencies)
    candidates = [population] if population else [math.ceil(came * f) for f in
                                                  (1, 1.1, 1.2, 1.35, 1.5, 1.7, 2, 2.4, 3, 4, 6, 10, 30, 100)]
    best = None
    for keys in candidates:
        ranks = np.arange(1, keys + 1, dtype=float)

        def likelihood(chances):
            means = draws * chances
            share = lambda times: float(np.mean(stats.poisson.pmf(times, means)))
            found = sum(count * math.log(max(share(times), 1e-300)) for times, count in frequencies)
            never = share(0)
            return found + (keys - came) * math.log(max(never, 1e-300)) if population else found - came * math.log(max(1 - never, 1e-300))

        uniform = likelihood(np.full(keys, 1 / keys))
        for scrambled in (False, True):
            def of(theta):
                norm = power_sum(10_000_000_001 if scrambled else keys, theta)
                chances = ranks**-theta / norm
                return likelihood(chances + max(0, 1 - chances.sum()) / keys)
            found = optimize.minimize_scalar(lambda t: -of(t), bounds=(0.01, 0.999), method="bounded", options={"xatol": 1e-4})
            if best is None or -found.fun > best[0]:
                best = -found.fun, found.x, scrambled, uniform
    likelihood, theta, scrambled, uniform = best
    return [0, 0, 0] if theta < 0.15 or likelihood < uniform + 5.4 else [1, theta, 1 if scrambled else 0]


def zipfian(seed, values, theta, draws, scrambled=False):
    random = np.random.default_rng(seed)
    chances = np.arange(1, values + 1, dtype=float) ** -theta
    if scrambled:
        all_ranks = power_sum(10_000_000_001, theta)
        chances = chances / all_ranks + max(0, 1 - chances.sum() / all_ranks) / values
    return np.bincount(random.choice(values, draws, p=chances / chances.sum()), minlength=values)


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)) or value is None:
        return None if value is None else int(value)
    return float(f"{value:.12g}")


def main():
    of_rows = []
    for name, values in rows():
        of_rows.append({
            "name": name, "values": values, "trend": trend(values), "shifts": level_shifts(values), "period": period(values, 0.01),
            "step": size_step(values, 0.05, 0.1), "bend": bend(values), "signs": signs(values),
            "changes": changes(values) if len(values) <= 40 else None,
            "correlation": first_order([values]),
        })
    of_stretches = []
    for seed, (count, correlation, effect) in enumerate([(30, 0, 0.1), (60, 0.6, 0.3), (40, 0.3, 0), (25, 0.9, 0.5), (50, 0, 0.05)]):
        inside = [None if i % 11 == 10 else i % 9 < 3 for i in range(count)]
        beside = [float(f"{100 * math.exp(v):.6g}") for v in noise(100 + seed, count, 0.2)]
        drawn = noise(200 + seed, count, 0.05, correlation)
        values = [float(f"{v:.6g}") for v in
                  1000 * np.exp(drawn + effect * np.array([bool(one) for one in inside]) + 0.5 * np.log(beside))]
        of_stretches.append({"values": values, "inside": inside, "beside": beside,
                             "p": known(values, inside), "pBeside": known(values, inside, beside)})
    of_pairs = []
    for seed, sizes in enumerate([[(12, 15)], [(20, 20), (8, 30)], [(7, 9), (10, 6), (25, 25)]]):
        pairs = [[[float(f"{v:.3g}") for v in 1000 * np.exp(noise(300 + 10 * seed + i + 100 * side, count, 0.03, 0.3)) * (1 + 0.01 * side)]
                  for side, count in enumerate(counts)] for i, counts in enumerate(sizes)]
        of_pairs.append({"pairs": pairs, "p": rank_test(pairs)})
    of_counts = []
    for seed, (values, theta, draws, total) in enumerate([
            (50, 0, 500, 10_000), (1000, 0, 800, 50_000), (1000, 0.5, 2000, 100_000), (1000, 0.8, 3000, 20_000), (300, 0.95, 1000, 1000),
            (100_000, 0, 400, 400_000), (10_000_000, 0, 300, 5000), (3, 0, 100, 1000), (5000, 0.3, 5000, 40_000)]):
        counts = [int(c) for c in zipfian(400 + seed, values, theta, draws) if c > 0]
        of_counts.append({"counts": counts, "total": total, "found": cardinality(counts, total)})
    of_counts.append({"counts": [900, 5, 3, 1, 1, 1], "total": 50_000, "found": cardinality([900, 5, 3, 1, 1, 1], 50_000)})
    of_keys = []
    for seed, (keys, theta, draws, is_known, scrambled) in enumerate([
            (400, 0, 1000, True, False), (400, 0, 1000, False, False), (600, 0.6, 2000, True, False), (600, 0.9, 2000, False, False),
            (500, 0.3, 3000, True, False), (800, 0.99, 1500, True, True), (300, 0.99, 20_000, True, True), (50, 0.8, 60, True, False),
            (200, 0.7, 9000, False, False)]):
        times = zipfian(500 + seed, keys, theta, draws, scrambled)
        frequencies = [[int(t), int(n)] for t, n in zip(*np.unique(times[times > 0], return_counts=True))]
        population = keys if is_known else None
        of_keys.append({"frequencies": frequencies, "population": population, "found": key_choice(frequencies, population)})
    lists = {"counts": of_counts, "keys": of_keys, "rows": of_rows, "stretches": of_stretches, "pairs": of_pairs}
    write = lambda one: json.dumps({k: v if k in ("name", "inside") else shown(v) for k, v in one.items()})
    print("{" + ",\n".join(f'"{key}": [\n' + ",\n".join(map(write, value)) + "]" for key, value in lists.items()) + "}")


if __name__ == "__main__":
    sys.exit(main())
