"""Statistics: exact and clustered intervals, the decision rule for a rate, power, quantiles, mergeable sums.

Pure numpy; scipy's special functions are imported where they are used. The sampling unit is the *cluster* (a question),
never the row: Q clusters, A columns (attack, or attack and repair cell), B bootstrap replicates.
"""

from counterproof.stats.binomial import exact_interval
from counterproof.stats.bootstrap import cluster_ratio_interval, cluster_ratio_intervals, resampled_ratios
from counterproof.stats.power import minimum_detectable_rate
from counterproof.stats.quantiles import TailSummary, tail_summary
from counterproof.stats.rates import RateEstimate, clustered_rate, clustered_rates
from counterproof.stats.ratio import RatioEstimate, cluster_t_interval
from counterproof.stats.sums import ClusterSums

__all__ = [
    "ClusterSums",
    "RateEstimate",
    "RatioEstimate",
    "TailSummary",
    "cluster_ratio_interval",
    "cluster_ratio_intervals",
    "cluster_t_interval",
    "clustered_rate",
    "clustered_rates",
    "exact_interval",
    "minimum_detectable_rate",
    "resampled_ratios",
    "tail_summary",
]
