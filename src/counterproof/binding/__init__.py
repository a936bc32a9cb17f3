"""Bind foreign verifiers: find them by name, match their parameters by name, and note what they read."""

from counterproof.binding.bound import Bound, bind
from counterproof.binding.loading import Loaded, load_function
from counterproof.binding.offers import CONVENTIONS, Convention, Offer, Render, trajectory_offers

__all__ = [
    "CONVENTIONS",
    "Bound",
    "Convention",
    "Loaded",
    "Offer",
    "Render",
    "bind",
    "load_function",
    "trajectory_offers",
]
