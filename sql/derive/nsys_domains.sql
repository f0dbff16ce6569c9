-- derive: nsys_domains
-- since: 0.1
-- summary: The names of the NVTX domains of a process of an Nsight Systems export.
SELECT n."domainId" AS domain_id, min(coalesce(n.text, s.value)) AS name
FROM nsys_special AS n
LEFT JOIN nsys_stringids AS s ON n."textId" = s.id
WHERE n."eventType" = 75
GROUP BY n."domainId"
