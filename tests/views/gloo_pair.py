"""Two processes that run each collective of gloo once and record themselves; run as a script.

python gloo_pair.py FOLDER
"""

import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import spawn
from torch.profiler import ProfilerActivity, profile

#: Floats that each rank puts in: a number that no message has by chance.
ELEMENTS = 1230
RANKS = 2


def take_part(rank: int, meeting: str, folder: Path) -> None:
    """Be one of the two."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS)
    mine = torch.ones(ELEMENTS)
    all_of_them = [torch.empty(ELEMENTS) for _ in range(RANKS)]
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        dist.all_reduce(mine)
        dist.all_reduce(mine.half())
        dist.all_reduce(torch.tensor(1, dtype=torch.int64))
        dist.broadcast(mine, 0)
        dist.reduce(mine, 0)
        dist.all_gather(all_of_them, mine)
        dist.gather(mine, all_of_them if rank == 0 else None, 0)
        dist.scatter(mine, all_of_them if rank == 0 else None, 0)
        dist.all_to_all_single(torch.empty(ELEMENTS), mine)
        dist.barrier()
        if rank == 0:
            dist.send(mine, 1)
        else:
            dist.recv(mine, 0)
    profiler.export_chrome_trace(str(folder / f"rank{rank}.pt.trace.json"))
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        spawn(take_part, (f"file://{store}/store", Path(sys.argv[1])), RANKS)
