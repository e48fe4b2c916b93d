"""A scene from the catalogue, its exact answers, and an audit that recomputes every step."""

from gaussdyn import audit, build, simulate

scene = build("sliding_rod", mu=0.8, theta0=1.1)
run = simulate(scene)
print(run)

for exact in scene.exact:
    got = exact.measure(run)
    print(f"{exact.name:32} exact {exact.value:12.8f}  found {got:12.8f} {exact.unit}")

print(audit(run, scene.system).explain())
