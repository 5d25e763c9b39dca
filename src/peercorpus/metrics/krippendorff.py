"""Krippendorff's α for numbers (interval metric), exact, with values missing.

α = 1 - D_o / D_e. With m_u values in unit u, n values in all units of two or more, δ² the squared difference:
D_o = (1/n) Σ_u (1/(m_u - 1)) Σ_{i≠j in u} δ²(i, j) and D_e = 1/(n (n - 1)) Σ_{i≠j} δ²(i, j).
Source: K. Krippendorff, Computing Krippendorff's Alpha-Reliability, University of Pennsylvania, 2011.
As Σ_{i≠j} (x_i - x_j)² = 2 m Σ_i (x_i - mean)², both are sums of squares, and no pair is ever formed.
"""

import polars as pl


def alpha(units: pl.DataFrame) -> float | None:
    """How far the values within units agree: 1 wholly, 0 as by chance, below 0 less than by chance.

    Args:
        units: One row a value: `unit` and `value`; nulls and units with one value are not counted.

    Returns:
        None where no unit has two values, or where all values are equal, so that chance is not defined.
    """
    value = pl.col("value").cast(pl.Float64)
    known = units.drop_nulls("value").select("unit", value).filter(pl.len().over("unit") > 1)
    n = known.height
    if n == 0 or known["value"].n_unique() == 1:
        return None
    squares = (value - value.mean()).pow(2).sum()
    within = known.group_by("unit", maintain_order=True).agg(m=pl.len(), squares=squares)
    observed = within.select((2 * pl.col("m") * pl.col("squares") / (pl.col("m") - 1)).sum()).item() / n
    expected = 2 * n * known.select(squares).item() / (n * (n - 1))
    return float(1 - observed / expected)
