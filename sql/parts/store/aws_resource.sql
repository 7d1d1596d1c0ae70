-- Tables of what the AWS API has beyond the other functions: tags, publications of versions.

-- What the API keeps of state machines and activities, beside the "aws" in the options of a version.
CREATE TABLE _sfflow.aws_resource (
	object_kind "char" NOT NULL,		-- SfObjectKind
	object_name text COLLATE "C" NOT NULL,
	tags jsonb NOT NULL,				-- {"key": "value"}
	encryption jsonb,					-- encryptionConfiguration of an activity, as given
	PRIMARY KEY (object_kind, object_name),
	CONSTRAINT aws_resource_kind CHECK (object_kind IN (@OBJECTS_TAGGED@)),
	CONSTRAINT aws_resource_encryption CHECK (encryption IS NULL OR object_kind = @OBJECT_ACTIVITY@)
);

-- Versions that the API has made, published or deleted. A version without a row was made by
-- sf_create_state_machine and counts as published. The API numbers what was published from 1 on, and gives no number
-- twice; numbers grow with the revisions, because only the newest one can be published.
CREATE TABLE _sfflow.version_publication (
	machine_no integer NOT NULL,
	version integer NOT NULL,
	published boolean NOT NULL,
	published_at timestamptz NOT NULL,
	description text,
	number integer,						-- of its last publication; NULL: it was never published
	PRIMARY KEY (machine_no, version),
	CONSTRAINT version_publication_number CHECK (number IS NOT NULL OR NOT published)
);

-- What is known of the publication of the revisions of a state machine. Those without a row go on counting from the
-- number before them.
CREATE FUNCTION _sfflow.publications(
	machine_no integer,
	OUT version integer,
	OUT published boolean,
	OUT published_at timestamptz,
	OUT description text,
	OUT number integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT b.version, b.published, b.published_at, b.description, CASE WHEN b.has_row THEN b.own ELSE
			coalesce(b.before, 0) + (count(*) FILTER (WHERE NOT b.has_row) OVER (PARTITION BY b.before
				ORDER BY b.version))::integer END
	FROM (SELECT v.version, coalesce(p.published, true) AS published,
		coalesce(p.published_at, v.created_at) AS published_at,
			p.description, p.number AS own, p.machine_no IS NOT NULL AS has_row,
			max(p.number) OVER (ORDER BY v.version) AS before
		FROM _sfflow.state_machine_version AS v
		LEFT JOIN _sfflow.version_publication AS p ON p.machine_no = v.machine_no AND p.version = v.version
		WHERE v.machine_no = $1) AS b
$$;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.aws_resource', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.version_publication', '');

-- The tables of features
--@slot tables
