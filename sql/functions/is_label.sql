-- function: is_label
-- since: 0.1
-- summary: Whether an event is a label: an annotation that a user or a library puts around code, which tells nothing of what runs in it.
-- returns: BOOLEAN
--
-- Steps, data loaders, collectives and optimizers have annotations of their own kind, and are no labels. Nor are those of
-- torch.compile, because compiled code that runs in them is not recorded.
--
-- params
--   name      type     unit  default  meaning
--   category  VARCHAR  -     -        Category of the event.
--   label     VARCHAR  -     -        Name of the event.
CREATE MACRO is_label(category VARCHAR, label VARCHAR) AS (
    category = 'user_annotation'
    AND NOT regexp_matches(
        label,
        '^(ProfilerStep#|enumerate\(Data|(nccl|gloo|mpi|c10d):|Optimizer\.|Torch-Compiled Region'
        || '|## Call |TorchDynamo |AOTDispatcher |Pregraph )|\(dynamo_timed\)$'
    )
);
