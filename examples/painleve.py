"""How many motions? Painleve's rod at three angular velocities, each answer with a proof that a stranger can check."""

from gaussdyn import build, outcome, snapshot

for omega in (0.0, 2.0, 4.0):
    rod = build("painleve_rod", omega=omega)
    found = outcome(snapshot(rod.system, rod.state))
    modes = [component.modes for component in found.components]
    print(f"omega = {omega:g} rad/s: {found.verdict}, {found.count} motions {modes}")
    assert found.certificate.verify()
    print("   ", found.explain())
