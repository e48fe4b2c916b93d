"""What can be asked of a run or a system afterwards: audits, comparisons, solution sets."""
