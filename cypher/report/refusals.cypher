// List what was refused and kept, the latest first: reviews, conflicts of high risk, rejections.
// @title What was refused
// @purpose Shows which commands were not carried out, by which rule, who asked, and who decided what of it.
// @mode read
// @param shard STRING       tenant/workspace
// @param status STRING?     open, approved, declined, dismissed, used; null for all
// @param limit INTEGER      rows at most
// @rows many   refusal_id STRING, status STRING, code STRING, rule STRING, operation STRING, risk STRING, targets LIST<STRING>, asked_by STRING, attempts INTEGER, decided_by STRING?, since STRING, latest STRING
// @sample {"shard": "default/main", "status": null, "limit": 50}
CYPHER 25
MATCH (refusal:Refusal {shard: $shard})
USING INDEX refusal:Refusal(shard, created_at)
WHERE refusal.created_at IS NOT NULL
  AND ($status IS NULL OR refusal.status = $status)
RETURN refusal.id AS refusal_id,
       refusal.status AS status,
       refusal.code AS code,
       refusal.reason_code AS rule,
       refusal.operation AS operation,
       refusal.risk AS risk,
       refusal.target_refs AS targets,
       refusal.client_id AS asked_by,
       refusal.attempts AS attempts,
       refusal.decided_by AS decided_by,
       toString(refusal.created_at) AS since,
       toString(refusal.updated_at) AS latest
ORDER BY refusal.updated_at DESC, refusal_id
// Browser sends each number of :params as a float.
LIMIT toInteger($limit)
