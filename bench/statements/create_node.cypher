// One node with its text, without any index: the least that a store can do.
CYPHER 25
CREATE (:BenchBare {id: $id, text: $text})
