"""How the tables of Nsight Compute begin."""

from __future__ import annotations

import re

#: The header of either page. The output of the program and lines of ncu itself may come before it.
HEADER = re.compile(rb'^\xef?\xbb?\xbf?"ID","Process ID",.*"Kernel Name"', re.MULTILINE)
#: The first line of ncu itself. A program may print more after it than is read of a file to recognise it.
CONNECTED = b"==PROF== Connected to process "
