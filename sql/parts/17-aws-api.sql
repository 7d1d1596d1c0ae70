-- What the AWS API has beyond the other functions: keys, tags, publication of versions.

-- One row per access key: which role a request signed with it runs as. No role but the owner reads it.
CREATE TABLE _sfflow.access_key (
	access_key_id text COLLATE "C" NOT NULL PRIMARY KEY,
	role regrole NOT NULL,
	secret text NOT NULL,				-- as it is: signatures are computed from it
	created_at timestamptz NOT NULL,
	created_by text COLLATE "C" NOT NULL,	-- current_user and
	created_in text COLLATE "C" NOT NULL	-- session_user then, by name: the row may outlive these roles
);
CREATE INDEX access_key_role ON _sfflow.access_key (role);

-- What the API keeps of state machines and activities, beside the "aws" in the options of a version.
CREATE TABLE _sfflow.aws_resource (
	object_kind "char" NOT NULL,		-- as in privilege
	object_name text COLLATE "C" NOT NULL,
	tags jsonb NOT NULL,				-- {"key": "value"}
	encryption jsonb,					-- encryptionConfiguration of an activity, as given
	PRIMARY KEY (object_kind, object_name)
);

-- Versions that the API has made, published or deleted. A version without a row was made by
-- sf_create_state_machine and counts as published.
CREATE TABLE _sfflow.version_publication (
	machine_no integer NOT NULL,
	version integer NOT NULL,
	published boolean NOT NULL,
	published_at timestamptz NOT NULL,
	description text,
	PRIMARY KEY (machine_no, version)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.access_key', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.aws_resource', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.version_publication', '');
