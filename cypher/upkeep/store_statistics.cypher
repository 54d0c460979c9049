// Store the counts and latent vectors of words for each access class of a shard, and forget other classes.
// @mode write
// @param shard STRING
// @param graph_version INTEGER    up to which memories were counted
// @param classes LIST<STRING>     every access class that the shard has
// @param rows LIST<MAP>           access_class, digest, atoms, words, counts, latent_words, latent, latent_rank, latent_unit
// @rows none
// @sample {"shard": "t/w", "graph_version": 1, "classes": ["c"], "rows": []}
CYPHER 25
CALL () {
  MATCH (old:TermStatistics {shard: $shard})
  WHERE old.access_class IS NOT NULL
    AND NOT old.access_class IN $classes
  DELETE old
}
UNWIND $rows AS row
MERGE (t:TermStatistics {shard: $shard, access_class: row.access_class})
SET t += row,
    t.graph_version = $graph_version,
    t.title = 'words of ' + $shard
