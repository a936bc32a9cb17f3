"""Pools made by the project itself: retrieval, the scripted search agent, the fact world, and their folder on disk."""

from counterproof.study.pools.agent import QuestionLike, ScriptedAgent, make_pool
from counterproof.study.pools.build import PoolSummary, build_pool
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.retrieval import Bm25Index
from counterproof.study.pools.tally import PoolTally, pool_meta
from counterproof.study.pools.world import fact_world

__all__ = [
    "AgentConfig",
    "Bm25Index",
    "PoolSummary",
    "PoolTally",
    "QuestionLike",
    "ScriptedAgent",
    "build_pool",
    "fact_world",
    "make_pool",
    "pool_meta",
]
