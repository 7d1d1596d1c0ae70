-- sf_export_definitions, sf_apply: all that is defined as one document, and a database made as the document says.
--
-- The document has a section per kind of objects; in it are the objects by name, or, where the name has several
-- parts, a list. A part is what changes by itself: an object, and in it a version, an alias, a right. The parts of the
-- document are compared with those of the document that the database would export.

-- The sections in the order in which they are applied. prefix: of names in sf_grant and sf_alter_owner, if it may be
-- given to another role; grants_on: the kind of objects for rights; defaults: what is left out of the document.
CREATE VIEW _sfflow.definition_kind (rank, section, kind, prefix, grants_on, is_list, has_owner, members, defaults) AS
VALUES
	(10, 'activities', 'activity', 'activity:', @OBJECT_ACTIVITY@::"char", false, true,
		'{lease,max_receive_count}'::text[], '{}'::jsonb),
	(50, 'resources', 'resource', NULL, NULL, true, true, '{pattern,resource}', '{}'),
	(60, 'state_machines', 'state machine', '', @OBJECT_STATE_MACHINE@, false, true,
		'{definition,execution_id_path,options,versions,aliases}', '{}')
--@slot definition_kinds
;

-- Leave out of a body what says no more than its absence does.
CREATE FUNCTION _sfflow.without_defaults(kind text, body jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(jsonb_object_agg(b.key, b.value), '{}')
	FROM jsonb_each($2) b
	WHERE b.value <> coalesce((SELECT k.defaults -> b.key FROM _sfflow.definition_kind k WHERE k.kind = $1), 'null')
$$;

-- The text of a definition in a document: one string, or its lines, so that a change is seen line by line.
CREATE FUNCTION _sfflow.definition_lines(text text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT CASE WHEN strpos($1, E'\n') = 0 THEN to_jsonb($1) ELSE to_jsonb(string_to_array($1, E'\n')) END $$;

-- The text that a document gives; a definition may also be written into it as an object, whose keys have no order.
CREATE FUNCTION _sfflow.definition_text(given jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE jsonb_typeof($1) WHEN 'string' THEN $1 #>> '{}'
		WHEN 'array' THEN (SELECT string_agg(l.value, E'\n' ORDER BY l.ordinality)
			FROM jsonb_array_elements_text($1) WITH ORDINALITY l)
		ELSE $1::text END
$$;

-- A version, as a document has it; its definition is that of a version before, if it is given as an equal object.
CREATE FUNCTION _sfflow.version_body(given jsonb, before jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT _sfflow.without_defaults('version', $1 || jsonb_build_object(
		'definition', CASE WHEN jsonb_typeof($1 -> 'definition') = 'object'
				AND _sfflow.definition_text($2 -> 'definition')::jsonb = $1 -> 'definition' THEN $2 -> 'definition'
			ELSE _sfflow.definition_lines(_sfflow.definition_text($1 -> 'definition')) END,
		'options', nullif($1 -> 'options', '{}')))
$$;

CREATE FUNCTION _sfflow.version_document(definition json, execution_id_path text, options jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT _sfflow.version_body(jsonb_build_object('definition', $1::text, 'execution_id_path', $2,
		'options', $3), NULL)
$$;

-- What is defined. owner: whose members may change it; NULL: administrators. shown_owner: as the document says.
CREATE VIEW _sfflow.definition (kind, name, owner, shown_owner, body) AS
SELECT 'activity', a.name, a.owner::oid, a.owner::oid,
	jsonb_build_object('lease', a.lease, 'max_receive_count', a.max_receive_count)
FROM _sfflow.activity a
UNION ALL
SELECT 'resource', format('%s of %s', r.pattern, pg_get_userbyid(r.owner)), r.owner::oid, r.owner::oid,
	jsonb_build_object('pattern', r.pattern, 'resource', r.resource)
FROM _sfflow.resource_map r
UNION ALL
SELECT 'state machine', m.name, m.owner::oid, m.owner::oid, jsonb_build_object(
	'versions', (SELECT jsonb_object_agg(v.version, _sfflow.version_document(v.definition, v.execution_id_path, v.options))
		FROM _sfflow.state_machine_version v WHERE v.machine_no = m.machine_no),
	'aliases', (SELECT jsonb_object_agg(a.alias, a.routes) FROM _sfflow.machine_alias a WHERE a.machine_no = m.machine_no))
FROM _sfflow.state_machine m
--@slot definitions
;

-- The names of rights by their letters.
CREATE VIEW _sfflow.named_privilege AS
SELECT p.object_kind, p.object_name, p.is_revoked,
	CASE WHEN p.role = 0 THEN 'public' ELSE pg_get_userbyid(p.role) END AS role,
	CASE p.privilege WHEN @PRIVILEGE_START@ THEN 'START' WHEN @PRIVILEGE_READ@ THEN 'READ'
		WHEN @PRIVILEGE_OPERATE@ THEN 'OPERATE' WHEN @PRIVILEGE_WORK@ THEN 'WORK' WHEN @PRIVILEGE_SEND@ THEN 'SEND'
		WHEN @PRIVILEGE_EMIT@ THEN 'EMIT' WHEN @PRIVILEGE_RECEIVE@ THEN 'RECEIVE' WHEN @PRIVILEGE_DO@ THEN 'DO'
		WHEN @PRIVILEGE_ASSIGN@ THEN 'ASSIGN' WHEN @PRIVILEGE_ACT@ THEN 'ACT' WHEN @PRIVILEGE_CREATE@ THEN 'CREATE'
		END AS privilege
FROM _sfflow.privilege p;

-- The rights on an object, as a document has them.
CREATE FUNCTION _sfflow.grants_document(kind "char", name text) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_build_object(
		'grants', (SELECT jsonb_object_agg(g.privilege, g.roles) FROM (
			SELECT p.privilege, jsonb_agg(p.role ORDER BY p.role COLLATE "C") AS roles FROM _sfflow.named_privilege p
			WHERE p.object_kind = $1 AND p.object_name = $2 AND NOT p.is_revoked GROUP BY p.privilege) g),
		'revoked_from_public', (SELECT jsonb_agg(p.privilege ORDER BY p.privilege) FROM _sfflow.named_privilege p
			WHERE p.object_kind = $1 AND p.object_name = $2 AND p.is_revoked))
$$;

-- Tells whether two documents define the same.
CREATE FUNCTION _sfflow.definitions_digest(document jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT encode(sha256(convert_to(($1 - '{digest,name,revision}'::text[])::text, 'UTF8')), 'hex') $$;

-- What a role may administer, as a document without a digest.
CREATE FUNCTION _sfflow.definitions_of(role oid, is_administrator boolean) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off
SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET intervalstyle = 'postgres'
AS $$
	WITH object AS (
		SELECT k.section, k.is_list, d.name, _sfflow.without_defaults(d.kind, d.body
			|| jsonb_build_object('owner', pg_get_userbyid(d.shown_owner))
			|| CASE WHEN k.grants_on IS NULL THEN '{}' ELSE _sfflow.grants_document(k.grants_on, d.name) END) AS body
		FROM _sfflow.definition d
		JOIN _sfflow.definition_kind k ON k.kind = d.kind
		WHERE CASE WHEN d.owner IS NULL THEN $2 ELSE pg_has_role($1, d.owner, 'USAGE') END
	), section AS (
		SELECT o.section, CASE WHEN o.is_list THEN jsonb_agg(o.body ORDER BY o.name COLLATE "C")
			ELSE jsonb_object_agg(o.name, o.body) END AS body
		FROM object o GROUP BY o.section, o.is_list
	)
	SELECT jsonb_build_object('format', 1) || coalesce((SELECT jsonb_object_agg(s.section, s.body) FROM section s), '{}')
		|| CASE WHEN $2 THEN _sfflow.without_defaults('', _sfflow.grants_document(@OBJECT_ALL@, '*')) ELSE '{}' END
$$;

-- The name of an object of a list, all of what tells it from others.
CREATE FUNCTION _sfflow.definition_name(kind text, body jsonb, role text, is_administrator boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE $1
		WHEN 'resource' THEN format('%s of %s', $2 ->> 'pattern', coalesce($2 ->> 'owner', $3))
--@slot definition_names
	END
$$;

-- The parts of a document. pointer: where it is; container: the keys of what it is in; parent: the object that it is
-- of; needs: the name of a part of the same kind that has to be there before.
CREATE FUNCTION _sfflow.definition_parts(
	document jsonb,
	role text,
	is_administrator boolean,
	OUT rank integer,
	OUT kind text,
	OUT name text,
	OUT pointer text,
	OUT container text[],
	OUT parent text,
	OUT owner text,
	OUT needs text,
	OUT body jsonb)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	WITH object AS (
		SELECT k.rank, k.section, k.kind, k.prefix, o.name, o.body,
			format('/%s/%s', k.section, replace(replace(o.step, '~', '~0'), '/', '~1')) AS pointer
		FROM _sfflow.definition_kind k
		CROSS JOIN LATERAL (
			SELECT e.key AS name, e.key AS step, e.value AS body
			FROM jsonb_each(CASE WHEN NOT k.is_list THEN $1 -> k.section END) e
			UNION ALL
			SELECT _sfflow.definition_name(k.kind, e.value, $2, $3), (e.ordinality - 1)::text, e.value
			FROM jsonb_array_elements(CASE WHEN k.is_list THEN $1 -> k.section END) WITH ORDINALITY e) o
	), granted AS (
		SELECT 65 AS rank, o.section, o.name, o.prefix || o.name AS target, o.pointer, o.body
		FROM object o WHERE o.prefix IS NOT NULL
		UNION ALL
		SELECT 5, NULL, NULL, '*', '', $1
	)
	SELECT o.rank, o.kind, o.name, o.pointer, ARRAY[o.section], NULL, o.body ->> 'owner',
		CASE o.kind WHEN '' THEN NULL
--@slot definition_needs
		END,
		CASE o.kind WHEN 'state machine' THEN '{}'
			ELSE o.body - '{owner,grants,revoked_from_public}'::text[] END
	FROM object o
	UNION ALL
	SELECT 61, 'version', o.name || '/' || v.key, o.pointer || '/versions/' || v.key,
		ARRAY[o.section, o.name, 'versions'], o.name, o.body ->> 'owner', NULL, v.value
	FROM object o CROSS JOIN LATERAL jsonb_each(o.body -> 'versions') v WHERE o.kind = 'state machine'
	UNION ALL
	-- A definition without a number: that of the current version, or else that of the next one.
	SELECT 61, 'version', o.name || '/' || coalesce(c.version + CASE WHEN c.body = _sfflow.version_body(v.body, c.body) THEN 0
			ELSE 1 END, 1), o.pointer || '/definition', NULL, o.name, o.body ->> 'owner', NULL, v.body
	FROM object o
	CROSS JOIN LATERAL (SELECT jsonb_build_object('definition', o.body -> 'definition',
		'execution_id_path', o.body -> 'execution_id_path', 'options', o.body -> 'options') AS body) v
	LEFT JOIN LATERAL (
		SELECT w.version, _sfflow.version_document(w.definition, w.execution_id_path, w.options) AS body
		FROM _sfflow.state_machine m
		JOIN _sfflow.state_machine_version w ON w.machine_no = m.machine_no AND w.version = m.current_version
		WHERE m.name = o.name) c ON true
	WHERE o.kind = 'state machine' AND o.body ? 'definition'
	UNION ALL
	SELECT 62, 'alias', o.name || '/' || a.key,
		o.pointer || '/aliases/' || replace(replace(a.key, '~', '~0'), '/', '~1'),
		ARRAY[o.section, o.name, 'aliases'], o.name, NULL, NULL, a.value
	FROM object o CROSS JOIN LATERAL jsonb_each(o.body -> 'aliases') a WHERE o.kind = 'state machine'
	UNION ALL
	SELECT g.rank, 'grant', format('%s on %s to %s', upper(p.key), g.target, r.value),
		format('%s/grants/%s/%s', g.pointer, p.key, r.ordinality - 1), array_remove(ARRAY[g.section, g.name, 'grants'], NULL),
		g.target, NULL, NULL, jsonb_build_object('privilege', upper(p.key), 'object', g.target, 'role', r.value)
	FROM granted g
	CROSS JOIN LATERAL jsonb_each(g.body -> 'grants') p
	CROSS JOIN LATERAL jsonb_array_elements_text(p.value) WITH ORDINALITY r
	UNION ALL
	SELECT g.rank, 'revocation', format('%s on %s from public', upper(p.value), g.target),
		format('%s/revoked_from_public/%s', g.pointer, p.ordinality - 1),
		array_remove(ARRAY[g.section, g.name, 'revoked_from_public'], NULL), g.target, NULL, NULL,
		jsonb_build_object('privilege', upper(p.value), 'object', g.target)
	FROM granted g
	CROSS JOIN LATERAL jsonb_array_elements_text(g.body -> 'revoked_from_public') WITH ORDINALITY p
$$;

-- The parts of what a role may administer; is_scoped: the document has what it is in, so that it can lack the part.
CREATE FUNCTION _sfflow.defined_parts(
	document jsonb,
	role oid,
	is_administrator boolean,
	OUT rank integer,
	OUT kind text,
	OUT name text,
	OUT parent text,
	OUT owner text,
	OUT needs text,
	OUT body jsonb,
	OUT is_scoped boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
	SELECT p.rank, p.kind, p.name, p.parent, p.owner, p.needs, p.body, ($1 #> p.container) IS NOT NULL
	FROM _sfflow.definition_parts(_sfflow.definitions_of($2, $3), pg_get_userbyid($2), $3) p
$$;

-- A part of a document in the form in which it is exported; before: what is there, or NULL.
CREATE FUNCTION _sfflow.normal_definition(kind text, given jsonb, before jsonb) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp SET jit = off
SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET intervalstyle = 'postgres'
AS $$
	SELECT CASE $1 WHEN 'version' THEN _sfflow.version_body($2, $3) WHEN 'alias' THEN $2 WHEN 'grant' THEN $2
		WHEN 'revocation' THEN $2
		ELSE (SELECT _sfflow.without_defaults($1, CASE $1
			WHEN 'activity' THEN d.body || jsonb_build_object('lease', (d.body ->> 'lease')::interval)
--@slot definition_forms
			ELSE d.body END)
			FROM (SELECT (SELECT k.defaults FROM _sfflow.definition_kind k WHERE k.kind = $1) || $2) d (body)) END
$$;

-- Versions have the numbers that a document gives them.
CREATE FUNCTION _sfflow.put_version(name text, version integer, definition text, execution_id_path text, options jsonb)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_put_version'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Make or change a part, or remove it, with the rights of the caller.
CREATE FUNCTION _sfflow.apply_definition(kind text, name text, parent text, body jsonb) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'owner' THEN @extschema@.sf_alter_owner($2, $4 ->> 'owner')::text
	WHEN 'activity' THEN
		@extschema@.sf_create_activity($2, ($4 ->> 'lease')::interval, ($4 ->> 'max_receive_count')::integer)::text
	WHEN 'resource' THEN @extschema@.sf_map_resource($4 ->> 'pattern', $4 ->> 'resource')::text
	WHEN 'version' THEN _sfflow.put_version($3, substr($2, length($3) + 2)::integer,
		_sfflow.definition_text($4 -> 'definition'), $4 ->> 'execution_id_path', coalesce($4 -> 'options', '{}'))::text
	WHEN 'alias' THEN @extschema@.sf_set_alias($3, substr($2, length($3) + 2), $4)::text
	WHEN 'grant' THEN @extschema@.sf_grant($4 ->> 'privilege', $4 ->> 'object', $4 ->> 'role')::text
	WHEN 'revocation' THEN @extschema@.sf_revoke($4 ->> 'privilege', $4 ->> 'object', 'public')::text
--@slot apply_definition
END;

CREATE FUNCTION _sfflow.remove_definition(kind text, name text, parent text, body jsonb) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN CASE $1
	WHEN 'activity' THEN @extschema@.sf_drop_activity($2)::text
	WHEN 'resource' THEN @extschema@.sf_unmap_resource($4 ->> 'pattern')::text
	WHEN 'state machine' THEN @extschema@.sf_drop_state_machine($2)::text
	WHEN 'alias' THEN @extschema@.sf_drop_alias($3, substr($2, length($3) + 2))::text
	WHEN 'grant' THEN @extschema@.sf_revoke($4 ->> 'privilege', $4 ->> 'object', $4 ->> 'role')::text
	WHEN 'revocation' THEN @extschema@.sf_grant($4 ->> 'privilege', $4 ->> 'object', 'public')::text
--@slot remove_definition
END;

CREATE FUNCTION @extschema@.sf_export_definitions() RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_export_definitions'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.sf_export_definitions() IS
	'everything that the caller may administer, as a document for sf_apply';

CREATE FUNCTION @extschema@.sf_apply(
	definitions jsonb,
	dry_run boolean DEFAULT false,
	remove boolean DEFAULT false,
	OUT object text,
	OUT name text,
	OUT outcome text,
	OUT changes text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_apply'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_apply(jsonb, boolean, boolean) IS
	'makes state machines and all else as a document of sf_export_definitions says; returns what became of each object';
