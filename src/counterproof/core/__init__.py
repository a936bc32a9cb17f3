"""Records, outcomes, requests, plans, findings, field views, seeds and errors: what every room speaks."""
