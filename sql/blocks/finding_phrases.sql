-- block: finding_phrases
-- since: 0.1
-- summary: What to say about each rule of recommendations whose cost can be known, and the view that proves it.
-- grain: one row per rule
--
-- {device} stands for the word of device_words.
--
-- columns
--   name      type     unit  meaning
--   rule      VARCHAR  key   Name of the rule, as in recommendations.
--   cause     VARCHAR  -     Start of a sentence that continues with a time: 'The data loader costs'.
--   advice    VARCHAR  -     What to do, in a few words that end a sentence.
--   sentence  VARCHAR  -     What is wrong, as a sentence without figures.
--   view      VARCHAR  -     View that shows where the time goes.
CREATE MACRO finding_phrases() AS TABLE
    SELECT p.rule, p.cause, p.advice, p.sentence, p.view
    FROM (
        VALUES
        (
            'data_loading',
            'The data loader costs',
            'use more workers',
            'The step waits for the data loader.',
            'step_breakdown'
        ),
        (
            'straggler',
            'Other workers wait for this one for',
            'balance the work',
            'Other workers wait for this one.',
            'comm_wait'
        ),
        (
            'communication',
            'Communication costs',
            'overlap it with computation, or send less',
            'The step waits for collectives.',
            'comm_overlap'
        ),
        (
            'backend_not_nccl',
            'Communication without NCCL costs',
            'use the backend nccl',
            'The workers communicate without NCCL.',
            'comm_overlap'
        ),
        (
            'excessive_synchronization',
            'The host waits for the {device} for',
            'read results less often',
            'The host often waits for the {device}.',
            'runtime_api_stats'
        ),
        (
            'blocking_copies',
            'The host waits for copies for',
            'copy with non_blocking=True',
            'The host waits for copies.',
            'runtime_api_stats'
        ),
        (
            'pageable_copies',
            'Copying pageable memory costs',
            'pin the memory',
            'Copies use memory that is not pinned.',
            'memory_copy_stats'
        ),
        (
            'compilation',
            'Compiling costs',
            'warm up for longer, or find out why it compiles again',
            'Steps wait for torch.compile.',
            'operator_stats'
        ),
        (
            'device_setup',
            'Preparing the {device} costs',
            'warm up before you record, and allocate memory once',
            'The host prepares the {device}: context, memory, kernels.',
            'runtime_api_stats'
        ),
        (
            'optimizer',
            'The optimizer costs',
            'fuse it, or let it run less often',
            'The optimizer takes much of the step.',
            'annotation_breakdown'
        ),
        (
            'launch_bound',
            'The {device} waits for the host for',
            'give it more work per launch',
            'The {device} waits for the host.',
            'step_breakdown'
        ),
        (
            'outside_operators',
            'Neither the {device} nor an operator runs for',
            'find out what the host does',
            'The host works or waits outside of operators.',
            'step_breakdown'
        ),
        (
            'device_gaps',
            'The {device} is idle in long gaps for',
            'prepare its work ahead of time',
            'The {device} is idle in long gaps.',
            'gpu_gaps'
        ),
        (
            'low_gpu_utilization',
            'The {device} has no kernel to run for',
            'use larger batches',
            'Kernels run for less than half of the time.',
            'step_breakdown'
        ),
        (
            'low_utilization_periods',
            'The {device} is less than half busy for',
            'utilization_series shows when',
            'For part of the time the {device} is less than half busy.',
            'utilization_series'
        ),
        (
            'late_launches',
            'The {device} waits for launches for',
            'prepare the next step during this one',
            'The host launches work late.',
            'serving_steps'
        ),
        (
            'blocking_call',
            'After a call that blocks, the {device} waits for launches for',
            'read results one step later',
            'The host waits for the {device} in a step.',
            'serving_steps'
        ),
        (
            'prefill_in_decode',
            'Prefill in the same steps costs',
            'allow fewer tokens per step',
            'Requests that decode wait for others to be prefilled.',
            'serving_summary'
        ),
        (
            'padding',
            'Padding of graphs costs',
            'capture more sizes',
            'Graphs run for more requests than there are.',
            'serving_steps'
        ),
        (
            'attention_efficiency',
            'Attention below the peak of the {device} costs',
            'try another attention backend',
            'Attention is far from the peak of the {device}.',
            'attention_roofline'
        )
    ) AS p (rule, cause, advice, sentence, view);
