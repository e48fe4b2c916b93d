"""``gaussdyn bench``: its verbs register themselves."""

from . import bench_league, bench_measured, bench_orders, bench_robots, bench_scenes, bench_solvers, bench_walls

__all__ = [
    "bench_league",
    "bench_measured",
    "bench_orders",
    "bench_robots",
    "bench_scenes",
    "bench_solvers",
    "bench_walls",
]
