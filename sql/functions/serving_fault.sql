-- function: serving_fault
-- since: 0.1
-- summary: Why the lengths that a serving framework wrote for a group of requests cannot be right; NULL if they can.
-- returns: VARCHAR
--
-- Frameworks that multiply in 32 bits write products that are too small or negative. Such numbers cannot be
-- repaired. If many requests are in a group, a wrong product may pass.
--
-- params
--   name      type    unit  default  meaning
--   requests  BIGINT  -     -        Number of requests of the group.
--   sq        BIGINT  -     -        Sum of their new tokens.
--   sk        BIGINT  -     -        Sum of all tokens that they attend to.
--   sqsq      BIGINT  -     -        Sum of the squares of the new tokens.
--   sqsk      BIGINT  -     -        Sum of the products of new and all tokens.
CREATE MACRO serving_fault(
    requests BIGINT, sq BIGINT, sk BIGINT, sqsq BIGINT, sqsk BIGINT
) AS (
    CASE
        WHEN least(requests, sq, sk, sqsq, sqsk) < 0 THEN 'a number is negative'
        WHEN requests = 0 AND greatest(sq, sk, sqsq, sqsk) > 0 THEN 'it has tokens without requests'
        WHEN sk < sq THEN 'sk is less than sq'
        WHEN
            sqsq::HUGEINT > sq::HUGEINT * sq
            OR sqsq::HUGEINT * requests < sq::HUGEINT * sq
            THEN 'sqsq does not fit sq'
        WHEN sqsk < sqsq OR sqsk::HUGEINT > sq::HUGEINT * sk THEN 'sqsk does not fit sq and sk'
        WHEN requests = 1 AND sqsk::HUGEINT <> sq::HUGEINT * sk THEN 'sqsk is not sq * sk'
    END
);
