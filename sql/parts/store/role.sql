-- Tables: what roles may do.

-- Rights given by sf_grant, and those that public has lost; role 0 ('-') is public.
CREATE TABLE _sfflow.privilege (
	object_kind "char" NOT NULL,		-- SfObjectKind
	object_name text COLLATE "C" NOT NULL,
	role regrole NOT NULL,
	privilege "char" NOT NULL,			-- SfPrivilege
	is_revoked boolean NOT NULL DEFAULT false,	-- public has it by itself, and has lost it
	PRIMARY KEY (object_kind, object_name, role, privilege),
	CONSTRAINT privilege_letters CHECK (object_kind IN (@OBJECT_LETTERS@) AND privilege IN (@PRIVILEGE_LETTERS@)),
	CONSTRAINT privilege_is_revoked CHECK (role::oid = 0 OR NOT is_revoked)
);
CREATE INDEX privilege_role ON _sfflow.privilege (role);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.privilege', '');
