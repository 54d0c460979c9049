// List the access classes of a shard whose scope matches what is asked.
// Why: every scope field that a record sets must equal the request's; the policy is judged in Python.
// @mode read
// @param shard STRING
// @param scope MAP       the scope asked for; absent fields match only records that do not set them
// @param limit INTEGER
// @rows many   access_class STRING, access_policy STRING?, scope MAP
// @sample {"shard": "t/w", "scope": {"tenant_id": "t", "workspace_id": "w"}, "limit": 1000}
CYPHER 25
MATCH (c:AccessClass {shard: $shard})
WHERE c.access_class IS NOT NULL
  AND (c.scope_project_id IS NULL OR c.scope_project_id = $scope.project_id)
  AND (c.scope_user_id IS NULL OR c.scope_user_id = $scope.user_id)
  AND (c.scope_agent_id IS NULL OR c.scope_agent_id = $scope.agent_id)
  AND (c.scope_session_id IS NULL OR c.scope_session_id = $scope.session_id)
  AND (c.scope_task_id IS NULL OR c.scope_task_id = $scope.task_id)
  AND (c.scope_tool_environment_id IS NULL OR c.scope_tool_environment_id = $scope.tool_environment_id)
RETURN c.access_class AS access_class,
       c.access_policy AS access_policy,
       c {
         tenant_id: c.scope_tenant_id,
         workspace_id: c.scope_workspace_id,
         project_id: c.scope_project_id,
         user_id: c.scope_user_id,
         agent_id: c.scope_agent_id,
         session_id: c.scope_session_id,
         task_id: c.scope_task_id,
         tool_environment_id: c.scope_tool_environment_id
       } AS scope
ORDER BY access_class
LIMIT $limit
