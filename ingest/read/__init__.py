"""A trace file as blocks of event texts: decompress, split, repair."""
