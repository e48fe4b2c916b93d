"""The one place that knows numba: kernels, the records that they take, and vectors within them.

What has kernels imports from here. Where machine code lies is asked without numba: `_cache`, `_kernel_files`.
"""

from __future__ import annotations

from .kernels import A1 as A1
from .kernels import A2 as A2
from .kernels import A3 as A3
from .kernels import I1 as I1
from .kernels import I2 as I2
from .kernels import KERNELS as KERNELS
from .kernels import address_of as address_of
from .kernels import build_statistics as build_statistics
from .kernels import call_back as call_back
from .kernels import caller as caller
from .kernels import entry_of as entry_of
from .kernels import kernel as kernel
from .kernels import kernel_from as kernel_from
from .kernels import loaded as loaded
from .kernels import types as types
from .kernels import unkept as unkept
from .record_types import Held as Held
from .record_types import nothing as nothing
from .record_types import record as record
