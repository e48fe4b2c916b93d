"""What joints in the plane and in space share."""
