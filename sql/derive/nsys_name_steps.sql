-- derive: nsys_name_steps
-- since: 0.1
-- summary: Gives the steps of an Nsight Systems export the names of steps of Kineto.
UPDATE raw_host SET category = 'user_annotation', name = s.name, args = s.args
FROM nsys_steps AS s
WHERE raw_host.event_id = s.event_id;
