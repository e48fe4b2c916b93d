"""Commands about what was measured: parameters from recorded runs, and recordings as judges."""

from . import bench_measured as bench_measured
from . import fit_command as fit_command
