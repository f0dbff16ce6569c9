-- block: serving_patterns
-- since: 0.1
-- summary: Annotations that serving frameworks write around each step, and where they hold which number.
-- grain: one row per kind of annotation and number in it
--
-- A pattern is a regular expression. The first group of value_pattern is the number. A number may be
-- negative: a program that multiplies in 32 bits writes such ones.
--
-- Numbers of requests that are prefilled begin with prefill_, of those that generate tokens with
-- decode_. Of one of these groups, sq is the sum of its new tokens, sk that of all tokens attended to
-- (cached and new), sqsq that of the squares of the new tokens of a request, and sqsk that of the products of
-- its new tokens and all of its tokens.
--
-- The source of ATOM (atom/model_engine/model_runner.py, read in November 2026) writes p= for the number of
-- requests of a batch that are prefilled, and d= for that of those that generate tokens.
--
-- vLLM of 2025 writes execute_new_N_cached_M: N requests whose first tokens are prefilled, and M that had a
-- step before. The M count as those that generate tokens. A long prompt that is prefilled in several steps is among
-- them from its second step on.
--
-- columns
--   name           type     unit  meaning
--   format         VARCHAR  -     'execute' (vLLM, and SGLang with the patch of TraceLens), 'step' (SGLang), 'atom' (ATOM) or 'diffusion' (xDiT).
--   phase          VARCHAR  -     Phase that the name tells; NULL if the numbers of requests tell it.
--   name_pattern   VARCHAR  key   What the name of the annotation looks like.
--   field          VARCHAR  key   What the number is.
--   value_pattern  VARCHAR  -     Where it is in the name.
CREATE MACRO serving_patterns() AS TABLE
    WITH
    _kinds AS (
        SELECT k.kind, k.format, k.phase, k.name_pattern
        FROM (
            VALUES
            ('execute', 'execute', NULL, '^execute_(-?\d+_)?context_-?\d+\('),
            ('execute new', 'execute', NULL, '^execute_new_\d+_cached_\d+'),
            ('extend', 'step', 'prefill', '^step\[ *EXTEND\b'),
            ('decode', 'step', 'decode', '^step\[ *DECODE\b'),
            ('verify', 'step', 'decode', '^step\[ *(TARGET_)?VERIFY\b'),
            ('mixed', 'step', 'mixed', '^step\[ *MIXED\b'),
            ('idle', 'step', 'idle', '^step\[ *IDLE\b'),
            ('atom prefill', 'atom', 'prefill', '^(eager_)?prefill\['),
            -- ATOM writes p= only if it prefills requests, too; tok= then counts those of both groups. The
            -- only other p of a name is that in spec=.
            ('atom decode', 'atom', 'decode', '^(eager_)?decode\[(p=0\b|sp|[^p])*$'),
            ('atom mixed', 'atom', 'mixed', '^(eager_)?decode\[.*\bp=[1-9]'),
            ('diffusion', 'diffusion', 'diffusion', '^execute_diffusion_\d+_\d+x\d+')
        ) AS k (kind, format, phase, name_pattern)
    ),

    _fields AS (
        SELECT f.kind, f.field, f.value_pattern
        FROM (
            VALUES
            ('execute', 'leading_number', '^execute_(-?\d+)_context'),
            ('execute', 'prefill_requests', 'context_(-?\d+)'),
            ('execute', 'prefill_sq', 'context_-?\d+\((?:sq)?(-?\d+)'),
            ('execute', 'prefill_sk', 'context_-?\d+\(sq-?\d+sk(-?\d+)'),
            ('execute', 'prefill_sqsq', 'context_[^)]*sqsq(-?\d+)'),
            ('execute', 'prefill_sqsk', 'context_[^)]*sqsk(-?\d+)'),
            ('execute', 'decode_requests', 'generation_(-?\d+)'),
            ('execute', 'decode_sq', 'generation_-?\d+\((?:sq)?(-?\d+)'),
            ('execute', 'decode_sk', 'generation_-?\d+\(sq-?\d+sk(-?\d+)'),
            ('execute', 'decode_sqsq', 'generation_[^)]*sqsq(-?\d+)'),
            ('execute', 'decode_sqsk', 'generation_[^)]*sqsk(-?\d+)'),
            ('execute new', 'prefill_requests', '^execute_new_(\d+)'),
            ('execute new', 'decode_requests', '_cached_(\d+)'),
            ('extend', 'prefill_requests', '\bbs=(-?\d+)'),
            ('extend', 'prefill_sq', '\b(?:toks|c_sq)=(-?\d+)'),
            ('extend', 'prefill_sk', '\bc_sk=(-?\d+)'),
            ('extend', 'prefill_sqsq', '\bc_sqsq=(-?\d+)'),
            ('extend', 'prefill_sqsk', '\bc_sqsk=(-?\d+)'),
            ('decode', 'decode_requests', '\bbs=(-?\d+)'),
            -- Without speculation each request gets one token, and only their number is written.
            ('decode', 'decode_sq', '\b(?:bs=-?\d+.*(?:toks|g_sq)|bs)=(-?\d+)'),
            ('decode', 'decode_sk', '\bg_sk=(-?\d+)'),
            ('decode', 'decode_sqsq', '\bg_sqsq=(-?\d+)'),
            ('decode', 'decode_sqsk', '\bg_sqsk=(-?\d+)'),
            ('verify', 'decode_requests', '\bbs=(-?\d+)'),
            ('verify', 'decode_sq', '\b(?:toks|g_sq)=(-?\d+)'),
            ('verify', 'decode_sk', '\bg_sk=(-?\d+)'),
            ('verify', 'decode_sqsq', '\bg_sqsq=(-?\d+)'),
            ('verify', 'decode_sqsk', '\bg_sqsk=(-?\d+)'),
            ('mixed', 'requests', '\bbs=(-?\d+)'),
            ('mixed', 'tokens', '\btoks=(-?\d+)'),
            ('mixed', 'prefill_requests', '\bc=(-?\d+)'),
            ('mixed', 'prefill_sq', '\bc_sq=(-?\d+)'),
            ('mixed', 'prefill_sk', '\bc_sk=(-?\d+)'),
            ('mixed', 'prefill_sqsq', '\bc_sqsq=(-?\d+)'),
            ('mixed', 'prefill_sqsk', '\bc_sqsk=(-?\d+)'),
            ('mixed', 'decode_requests', '\bg=(-?\d+)'),
            ('mixed', 'decode_sq', '\bg_sq=(-?\d+)'),
            ('mixed', 'decode_sk', '\bg_sk=(-?\d+)'),
            ('mixed', 'decode_sqsq', '\bg_sqsq=(-?\d+)'),
            ('mixed', 'decode_sqsk', '\bg_sqsk=(-?\d+)'),
            ('idle', 'requests', '\bbs=(-?\d+)'),
            ('atom prefill', 'prefill_requests', '\bbs=(-?\d+)'),
            ('atom prefill', 'prefill_sq', '\btok=(-?\d+)'),
            ('atom prefill', 'prefill_sk', '\bsk=(-?\d+)'),
            ('atom prefill', 'prefill_sqsq', '\bsqsq=(-?\d+)'),
            ('atom prefill', 'prefill_sqsk', '\bsqsk=(-?\d+)'),
            ('atom decode', 'decode_requests', '\bbs=(-?\d+)'),
            ('atom decode', 'captured_requests', '\bbs=-?\d+/(\d+)'),
            ('atom decode', 'decode_sq', '\btok=(-?\d+)'),
            ('atom decode', 'decode_sk', '\bsk=(-?\d+)'),
            ('atom decode', 'decode_sqsq', '\bsqsq=(-?\d+)'),
            ('atom decode', 'decode_sqsk', '\bsqsk=(-?\d+)'),
            ('atom mixed', 'requests', '\bbs=(-?\d+)'),
            ('atom mixed', 'captured_requests', '\bbs=-?\d+/(\d+)'),
            ('atom mixed', 'tokens', '\btok=(-?\d+)'),
            ('atom mixed', 'prefill_requests', '\bp=(-?\d+)'),
            ('atom mixed', 'decode_requests', '\bd=(-?\d+)'),
            ('diffusion', 'requests', '^execute_diffusion_(\d+)')
        ) AS f (kind, field, value_pattern)
    )

    SELECT k.format, k.phase, k.name_pattern, f.field, f.value_pattern
    FROM _kinds AS k
    INNER JOIN _fields AS f ON k.kind = f.kind;
