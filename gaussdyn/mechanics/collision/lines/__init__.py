"""Lines that pass each other: kinematics of crossings and of the ends beyond which there are none."""
