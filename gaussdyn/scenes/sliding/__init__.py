"""Bodies that slide, stick and creep; friction oscillators."""
