"""Problems of few blocks, solved in one compiled call."""
