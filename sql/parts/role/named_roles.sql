-- The roles that rows name.

-- The roles that rows name, each as often as they do: their anchors keep DROP ROLE from dropping them.
-- src/store/role/anchor.c looks into the same tables, by the indexes that they name in src/store/feature.h (by_role).
CREATE VIEW _sfflow.named_role AS
SELECT owner AS role FROM _sfflow.state_machine
UNION ALL SELECT role FROM _sfflow.privilege
UNION ALL SELECT owner FROM _sfflow.activity
UNION ALL SELECT owner FROM _sfflow.resource_map
--@slot named_role
;
