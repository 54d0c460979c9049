// The ids of the 50 best hits of the text index, for the same words: no access, no state, no walk.
CYPHER 25
CALL db.index.fulltext.queryNodes('atom_text', $query, {limit: 50}) YIELD node
RETURN node.id AS id
