"""Contact problems of free bodies, solved in the velocities of the bodies."""
