"""Blocks that have no rows for many traces, as macros without contents.

Planning what finds the captured graph of a launch takes longer than most queries, and needs more than Spark SQL
can do. What serving steps, stragglers and the work of devices need takes long, too. So these macros stand in for
the blocks where there is nothing to find.
"""

from __future__ import annotations

from tracewh.views.spec import Spec

#: Blocks and views that have rows only for traces that launch a graph.
OF_GRAPHS = (
    "compared_replays",
    "graph_kernels_v1",
    "graph_replays_v1",
    "matched_replays",
    "replay_matches",
    "replay_notes",
    "replayed_costs",
    "replayed_events",
    "replayed_modules",
    "replayed_stacks",
    "unmatched_replays",
)

#: The same of a block that Spark SQL can do.
OF_LAUNCHES = ("graph_launches",)

#: Blocks that have rows only where graphs were captured. Many traces of a server begin after that.
OF_CAPTURES = (
    "compared_replays",
    "matched_replays",
    "replay_candidates",
    "replayed_costs",
    "replayed_modules",
    "split_replays",
    "unmatched_replays",
)

#: Blocks that have rows only for traces with the steps of a serving framework, or that launch a graph.
OF_SERVING = ("serving_advice", "serving_verdict")

#: Blocks that have rows only for tables of pipeline operations.
OF_PIPELINES = ("straggler_verdict",)

#: Blocks that have rows only where the batches of a data loader or a pipeline were recorded.
OF_LOADERS = ("data_advice",)

#: Blocks that have rows only where such batches were recorded, or where the profiler saw a DataLoader.
OF_BATCHES = ("data_waits",)

#: Blocks that have rows only for traces of MindSpore.
OF_MINDSPORE = ("recorded_intervals",)

#: Blocks that have rows only for traces in which torch.compile compiled.
OF_COMPILATION = ("step_compilation",)

#: Blocks that have rows only where the host prepares a device while it records.
OF_SETUP = ("device_setup",)

#: Blocks that have rows only for traces with the memory of the allocator.
OF_MEMORY = ("memory_growth",)

#: Blocks that have rows only for traces in which an optimizer of torch.optim ran.
OF_OPTIMIZERS = ("optimizer_time",)

#: Blocks that have rows only for traces with collectives.
OF_COLLECTIVES = ("costliest_collectives",)

#: Blocks that have rows only for traces whose table step_activity has collectives.
OF_COMMUNICATION = ("worker_waits",)

#: Blocks and views that have rows only for traces with work of a device, or with calls that launch it.
OF_DEVICES = (
    "mean_mfu",
    "device_advice",
    "eligible_kernel_share",
    "gpu_summary_v1",
    "small_launches",
    "step_synchronizations",
    "unrecorded_threads",
    "unrecorded_work",
)

#: Blocks that have rows only for traces with the shapes of inputs.
OF_SHAPES = ("mean_mfu",)

#: Blocks that have rows only for traces with Python frames.
OF_FRAMES = ("shortened_steps", "slow_functions")

#: These blocks, and the query that finds a trace for which they have rows. `AND` and a condition on `run` may
#: follow it. A block stands before those that it calls.
RARE = {
    OF_DEVICES: """
        FROM (
            SELECT d.run FROM device_events AS d
            UNION ALL
            SELECT h.run FROM host_events AS h
            WHERE ends_with(h.category, '_runtime') OR ends_with(h.category, '_driver')
        ) WHERE TRUE
    """,
    OF_SHAPES: "FROM host_events WHERE input_dims IS NOT NULL",
    OF_PIPELINES: "FROM traces WHERE source = 'pipeline'",
    OF_MINDSPORE: "FROM traces WHERE source = 'mindspore'",
    OF_LOADERS: "FROM data_pipeline_batches WHERE TRUE",
    OF_BATCHES: """
        FROM (
            SELECT b.run FROM data_pipeline_batches AS b
            UNION ALL
            SELECT a.run FROM annotations AS a WHERE starts_with(a.name, 'enumerate(DataLoader)#')
        ) WHERE TRUE
    """,
    OF_COMMUNICATION: "FROM step_activity WHERE (device_communication OR host_communication)",
    OF_COMPILATION: "FROM host_events WHERE ends_with(name, ' (dynamo_timed)')",
    OF_SETUP: "FROM host_events WHERE is_setup_call(category, name, duration_ns)",
    OF_MEMORY: "FROM memory_records WHERE total_allocated_bytes IS NOT NULL",
    OF_OPTIMIZERS: "FROM stacks WHERE starts_with(name, 'Optimizer.step#')",
    OF_COLLECTIVES: """
        FROM (
            SELECT d.run FROM device_events AS d WHERE d.kind = 'communication'
            UNION ALL
            SELECT h.run FROM host_events AS h
            WHERE starts_with(h.name, 'gloo:') OR starts_with(h.name, 'mpi:')
        ) WHERE TRUE
    """,
    OF_FRAMES: "FROM stacks WHERE category = 'python_function'",
    OF_GRAPHS: "FROM graphs WHERE role = 'launch'",
    OF_LAUNCHES: "FROM graphs WHERE role = 'launch'",
    OF_CAPTURES: """
        FROM (SELECT replaying_run(g.run) AS run FROM graphs AS g WHERE g.role = 'capture') WHERE TRUE
    """,
    OF_SERVING: """
        FROM (
            SELECT g.run FROM graphs AS g WHERE g.role = 'launch'
            UNION ALL
            SELECT s.run FROM steps AS s
            WHERE s.step IS NOT NULL AND NOT starts_with(s.name, 'ProfilerStep#')
        ) WHERE TRUE
    """,
}


def empty_macro(spec: Spec) -> str:
    """Return SQL that creates a block or view without rows."""
    columns = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in spec.columns)
    return f"{spec.signature} SELECT {columns} WHERE FALSE"
