// A token belongs to one client, in whichever shard.
CYPHER 25
CREATE CONSTRAINT client_token_hash IF NOT EXISTS
FOR (n:Client)
REQUIRE n.token_hash IS UNIQUE
