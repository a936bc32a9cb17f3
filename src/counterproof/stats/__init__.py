"""Statistics: exact and clustered intervals, the decision rule for a rate, dependence, many tests, power, quantiles.

Pure numpy; scipy's special functions are imported where they are used. The sampling unit is the *cluster* (a question),
never the row: Q clusters, A columns (attack, or attack and repair cell), B bootstrap replicates.
"""

from counterproof.stats.binomial import exact_interval
from counterproof.stats.bootstrap import (
    cluster_ratio_interval,
    cluster_ratio_intervals,
    cluster_weights,
    resampled_ratios,
    resampled_sums,
)
from counterproof.stats.dependence import (
    GTest,
    alpha_of,
    alpha_parts,
    association_g_test,
    cohen_kappa,
    conditional_g_test,
    conditional_gain,
    conditional_mutual_information,
    homogeneity_g_test,
    krippendorff_alpha,
    mutual_information,
    pair_information,
    phi,
)
from counterproof.stats.multiplicity import holm, max_t
from counterproof.stats.paired import paired_difference, paired_differences, percentile_interval
from counterproof.stats.power import minimum_detectable_rate
from counterproof.stats.quantiles import TailSummary, tail_summary
from counterproof.stats.rates import RateEstimate, clustered_rate, clustered_rates
from counterproof.stats.ratio import RatioEstimate, cluster_t_interval
from counterproof.stats.sums import ClusterSums

__all__ = [
    "ClusterSums",
    "GTest",
    "RateEstimate",
    "RatioEstimate",
    "TailSummary",
    "alpha_of",
    "alpha_parts",
    "association_g_test",
    "cluster_ratio_interval",
    "cluster_ratio_intervals",
    "cluster_t_interval",
    "cluster_weights",
    "clustered_rate",
    "clustered_rates",
    "cohen_kappa",
    "conditional_g_test",
    "conditional_gain",
    "conditional_mutual_information",
    "exact_interval",
    "holm",
    "homogeneity_g_test",
    "krippendorff_alpha",
    "max_t",
    "minimum_detectable_rate",
    "mutual_information",
    "pair_information",
    "paired_difference",
    "paired_differences",
    "percentile_interval",
    "phi",
    "resampled_ratios",
    "resampled_sums",
    "tail_summary",
]
