// Tell how many nodes the whole store has, and how many bear the label of what it is built of.
// Why: the count store knows each number at once. Where the two are equal no node is without such a label,
// and nobody has to look for one.
// @mode read
// @rows one   nodes INTEGER, labelled INTEGER
// @sample {}
CYPHER 25
CALL () {
  CALL () {
    MATCH (n) RETURN count(n) AS nodes
  }
  RETURN nodes, 0 AS labelled
  UNION ALL
  CALL () {
    MATCH (n:AccessClass) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Artifact) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Refusal) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Atom) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Canary) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Client) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Edge) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Embedding) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Entity) RETURN count(n) AS labelled
    UNION ALL MATCH (n:EnumValue) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Event) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Evidence) RETURN count(n) AS labelled
    UNION ALL MATCH (n:IndexMark) RETURN count(n) AS labelled
    UNION ALL MATCH (n:InteractionStream) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Journal) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Migration) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Name) RETURN count(n) AS labelled
    UNION ALL MATCH (n:PacketManifest) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Receipt) RETURN count(n) AS labelled
    UNION ALL MATCH (n:RelationType) RETURN count(n) AS labelled
    UNION ALL MATCH (n:RetrievalOutcome) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Score) RETURN count(n) AS labelled
    UNION ALL MATCH (n:TermStatistics) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Usage) RETURN count(n) AS labelled
    UNION ALL MATCH (n:Version) RETURN count(n) AS labelled
  }
  RETURN 0 AS nodes, sum(labelled) AS labelled
}
RETURN sum(nodes) AS nodes,
       sum(labelled) AS labelled
