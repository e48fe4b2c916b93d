"""Bodies in space: a box of a ton lands on a light one, and the report shows the forces."""

from gaussdyn import ContactLaw, MoreauJean, SpatialSystem, simulate
from gaussdyn.mechanics.spatial import HalfSpace, brick

light = brick("light", mass=1.0, half=(0.1, 0.1, 0.1))
heavy = brick("heavy", mass=1000.0, half=(0.1, 0.1, 0.1))
pair = SpatialSystem(bodies=[light, heavy], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.5))
start = pair.state({"light": (0, 0, 0.1), "heavy": (0.03, 0, 0.32)})

run = simulate(pair, start, 0.2, stepper=MoreauJean(dt=2e-3))
print(run)
carried = run.between("light", "floor")
print("on the floor at the end:", carried.force[-1].round(6), "N; exactly", 1001 * 9.81)
print("deepest overlap:", run.statistics["max_penetration_m"], "m; friction left:", round(carried.margin[-1], 3))
