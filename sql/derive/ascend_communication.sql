-- derive: ascend_communication
-- since: 0.2
-- summary: What communication.json says about the collectives: times, and bytes that each link carried.
--
-- The file names an operation by the name of its event, and the group by its id. Of the times only those that no
-- event has are added. The bytes are what the links carried, not the size of the message.
CREATE TABLE ascend_operations AS
SELECT
    c.name,
    any_value(c.group_name) AS group_name,
    any_value(json_object(
        'Transit Time(ms)', c.facts -> '$."Communication Time Info"."Transit Time(ms)"',
        'Wait Time(ms)', c.facts -> '$."Communication Time Info"."Wait Time(ms)"',
        'Synchronization Time(ms)',
        c.facts -> '$."Communication Time Info"."Synchronization Time(ms)"',
        'Idle Time(ms)', c.facts -> '$."Communication Time Info"."Idle Time(ms)"',
        'Bandwidth Info', c.facts -> '$."Communication Bandwidth Info"'
    )) AS facts
FROM communication AS c
GROUP BY c.name;

UPDATE raw_device SET
    group_name = coalesce(nullif(o.group_name, ''), raw_device.group_name),
    args = json_merge_patch(coalesce(raw_device.args, '{}'::JSON), o.facts)
FROM ascend_operations AS o
WHERE raw_device.name = o.name AND raw_device.category = 'kernel';
