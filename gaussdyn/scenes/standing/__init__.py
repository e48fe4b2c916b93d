"""Bodies held by contacts: tables, stacks, wedges, grooves."""
