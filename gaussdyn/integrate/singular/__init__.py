"""Motion through configurations where constraints lose rank."""

from .on_branch import OnBranch

__all__ = ["OnBranch"]
