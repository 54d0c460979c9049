// Read evidence records by id, with what decides who may see them; payloads stay where they are.
// @mode read
// @param shard STRING
// @param evidence_ids LIST<STRING>
// @param classes LIST<STRING>      access classes that the caller may see
// @rows many   evidence_id STRING, source_type STRING, source_ref STRING, checksum STRING, captured_at ZONED DATETIME
// @sample {"shard": "t/w", "evidence_ids": ["evd_1"], "classes": ["c"]}
CYPHER 25
UNWIND $evidence_ids AS evidence_id
MATCH (e:Evidence {shard: $shard, evidence_id: evidence_id})
WHERE e.access_class IN $classes
RETURN e.evidence_id AS evidence_id,
       e.source_type AS source_type,
       e.source_ref AS source_ref,
       e.checksum AS checksum,
       e.captured_at AS captured_at
