"""Event texts in, typed rows out: a compiled parser, and one in SQL for all that it leaves."""
