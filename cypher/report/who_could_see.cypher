// List the clients that there were at a graph version, and whether each could see an atom as it was then.
// Why: a body is canonical JSON, so its policy is a stretch of text whose lists hold ids and nothing else.
// @title Who could see this at a version
// @purpose Tells to whom a memory was open at a point of the past, by scope, policy and capability.
// @mode read
// @param shard STRING       tenant/workspace
// @param ref STRING         the atom's id
// @param at INTEGER         a graph version
// @param limit INTEGER      rows at most
// @rows many   client_id STRING, service_id STRING, process_type STRING, could_see BOOLEAN, because STRING, for_processors LIST<STRING>, atom_version INTEGER
// @sample {"shard": "default/demo", "ref": "story/preference/incidents-1", "at": 100, "limit": 100}
CYPHER 25
LET moment = head(COLLECT { MATCH (event:Event {shard: $shard, graph_version: toInteger($at)}) RETURN event.accepted_at })
FILTER moment IS NOT NULL
MATCH (atom:Atom {shard: $shard, id: $ref})
CALL (atom) {
  MATCH (written:Version {shard: $shard, ref: atom.id})
  WHERE written.version > 0
    AND written.graph_version <= toInteger($at)
  RETURN written
  ORDER BY written.version DESC
  LIMIT 1
}
LET policy = CASE WHEN written.body STARTS WITH '{"access_policy":' THEN split(written.body, ',"confidence":{')[0] ELSE '' END
LET lists = [name IN ['denied_identities', 'denied_capabilities', 'allowed_identities', 'allowed_capabilities', 'processor_visibility'] |
  [part IN split(split(split(policy + '"' + name + '":[]', '"' + name + '":[')[1], ']')[0], ',') WHERE part <> '' | replace(part, '"', '')]]
UNWIND COLLECT { MATCH (one:Client {shard: $shard}) USING INDEX one:Client(shard) RETURN one } AS client
CALL (client) {
  MATCH (stood:Version {shard: $shard, ref: client.id})
  WHERE stood.version > 0
    AND stood.graph_version <= toInteger($at)
  RETURN max(stood.version) AS stands
}
FILTER stands IS NOT NULL
LET bound = {
  project: split(split(client.scope + '"project_id":""', '"project_id":"')[1], '"')[0],
  user: split(split(client.scope + '"user_id":""', '"user_id":"')[1], '"')[0],
  agent: split(split(client.scope + '"agent_id":""', '"agent_id":"')[1], '"')[0]
}
LET names = [client.id, client.service_id, bound.user, bound.agent]
LET because = CASE
  WHEN stands > 1 OR client.expires_at <= moment THEN 'its token had ended'
  WHEN NOT 'memory.read' IN client.capabilities THEN 'it could not read'
  WHEN any(part IN [[bound.project, atom.scope_project_id], [bound.user, atom.scope_user_id], [bound.agent, atom.scope_agent_id]]
           WHERE part[0] <> '' AND part[0] <> part[1]) THEN 'out of its scope'
  WHEN any(name IN names WHERE name IN lists[0]) OR any(one IN client.capabilities WHERE one IN lists[1]) THEN 'denied'
  WHEN size(lists[2]) > 0 AND none(name IN names WHERE name IN lists[2]) THEN 'not among those allowed'
  WHEN size(lists[3]) > 0 AND none(one IN client.capabilities WHERE one IN lists[3]) THEN 'lacked what is allowed'
  ELSE 'within scope and policy'
END
RETURN client.id AS client_id,
       client.service_id AS service_id,
       client.process_type AS process_type,
       because = 'within scope and policy' AS could_see,
       because,
       lists[4] AS for_processors,
       written.version AS atom_version
ORDER BY could_see DESC, client_id
LIMIT toInteger($limit)
