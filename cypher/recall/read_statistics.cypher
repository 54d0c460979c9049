// Read the statistics of words of access classes.
// @mode read
// @param shard STRING
// @param classes LIST<STRING>
// @rows many   access_class STRING, digest STRING, atoms INTEGER, words LIST<STRING>, counts LIST<INTEGER>, latent_words LIST<STRING>, latent BYTES, latent_rank INTEGER, latent_unit FLOAT
// @sample {"shard": "t/w", "classes": ["c"]}
CYPHER 25
MATCH (t:TermStatistics {shard: $shard})
WHERE t.access_class IN $classes
RETURN t.access_class AS access_class,
       t.digest AS digest,
       t.atoms AS atoms,
       t.words AS words,
       t.counts AS counts,
       t.latent_words AS latent_words,
       t.latent AS latent,
       t.latent_rank AS latent_rank,
       t.latent_unit AS latent_unit
ORDER BY access_class
