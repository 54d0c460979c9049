// Enter the access classes of records that were written: one node per scope and policy.
// Why: recall resolves the classes that a caller may see before it looks at any record.
// @mode write
// @param shard STRING
// @param rows LIST<MAP>     access_class, access_policy?, scope_…
// @rows none
// @sample {"shard": "t/w", "rows": []}
CYPHER 25
UNWIND $rows AS row
MERGE (c:AccessClass {shard: $shard, access_class: row.access_class})
  ON CREATE SET c += row,
                c.title = row.title
