/*
 * program_cache.c
 *		Compiled programs, one per version, cached by the backend.
 *
 * A version never changes, so entries are never stale; they are dropped, all
 * but those that the present transaction has used, when there are too many.
 * The key holds the relation that the version stands in, so that a dropped
 * and re-created extension finds nothing of the one before.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "base/name/name.h"
#include "base/version/compat.h"
#include "db/table.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/program_cache.h"

#define MAX_PROGRAMS	200

typedef struct Key
{
	Oid			relation;
	int			machine_no;
	int			version;
} Key;

typedef struct Entry
{
	Key			key;			/* hash key: must be first */
	SfCachedProgram *cached;	/* in the program's context */
	LocalTransactionId used;
} Entry;

static HTAB *programs = NULL;

/* Drop the entries that the present transaction has not used. */
static void
drop_unused(LocalTransactionId now)
{
	HASH_SEQ_STATUS scan;
	Entry	   *entry;

	hash_seq_init(&scan, programs);
	while ((entry = hash_seq_search(&scan)) != NULL)
	{
		if (entry->used == now)
			continue;
		MemoryContextDelete(entry->cached->program->context);
		hash_search(programs, &entry->key, HASH_REMOVE, NULL);
	}
}

/* Read the option "history" of a version. */
static SfHistoryLevel
history_level(const Jsonb *options)
{
	char	   *level = sf_json_get_cstring(options, "history");

	if (level != NULL && strcmp(level, "TASKS") == 0)
		return SF_HISTORY_LEVEL_TASKS;
	if (level != NULL && strcmp(level, "NONE") == 0)
		return SF_HISTORY_LEVEL_NONE;
	return SF_HISTORY_LEVEL_ALL;
}

/* Read roleArn of the option "aws", in the current memory context; NULL: there is none. */
static char *
role_arn(const Jsonb *options)
{
	Jsonb	   *aws = sf_json_get(options, SF_OPTION_AWS);

	return aws == NULL ? NULL : sf_json_get_cstring(aws, "roleArn");
}

/* Read the option "priority" of a version. */
static int
priority_of(const Jsonb *options)
{
	Jsonb	   *value = sf_json_get(options, "priority");
	JsonbValue	root;
	int64		priority;

	if (value == NULL)
		return 0;
	sf_json_root(value, &root);
	return sf_json_to_int64(&root, &priority) ? (int) priority : 0;
}

/* Compile a version; without must, NULL where that cannot be. */
static SfCachedProgram *
load(int machine_no, int version, bool must)
{
	SfMachine  *machine = sf_machine_read_version(machine_no, version);
	SfProgram  *program;
	SfCachedProgram *cached;
	MemoryContext old;
	List	   *diagnostics = NIL;

	if (machine == NULL && !must)
		return NULL;
	if (machine == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("version %d of state machine number %d does not exist",
						version, machine_no)));
	program = sf_asl_compile(machine->definition, strlen(machine->definition),
							 CacheMemoryContext, &diagnostics);
	if (program == NULL && !must)
		return NULL;
	if (program == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("definition of state machine \"%s\" version %d is not valid any more",
						machine->name, version),
				 errhint("Compare the output of sf_validate() with the version of sfflow that stored it.")));

	cached = MemoryContextAllocZero(program->context, sizeof(SfCachedProgram));
	cached->program = program;
	cached->history = history_level(machine->options);
	old = MemoryContextSwitchTo(program->context);
	cached->role_arn = role_arn(machine->options);
	SF_FEATURES(machine_options, feature)
		SF_COMPILED(feature, cached->compiled) = feature->machine_options->compile(machine->options, program);
	MemoryContextSwitchTo(old);
	cached->priority = priority_of(machine->options);
	return cached;
}

/* Find a program, or compile it; without must, NULL if it does not compile. */
static SfCachedProgram *
find(int machine_no, int version, bool must)
{
	LocalTransactionId now = SF_MY_LXID;
	Key			key;
	Entry	   *entry;
	SfCachedProgram *cached;
	bool		found;

	if (programs == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Key),.entrysize = sizeof(Entry)};

		programs = hash_create("sfflow programs", 64, &ctl,
							   HASH_ELEM | HASH_BLOBS);
	}
	memset(&key, 0, sizeof(key));
	key.relation = sf_db_relation("state_machine_version");
	key.machine_no = machine_no;
	key.version = version;

	entry = hash_search(programs, &key, HASH_FIND, NULL);
	if (entry == NULL)
	{
		if (hash_get_num_entries(programs) >= MAX_PROGRAMS)
			drop_unused(now);
		cached = load(machine_no, version, must);
		if (cached == NULL)
			return NULL;
		entry = hash_search(programs, &key, HASH_ENTER, &found);
		entry->cached = cached;
	}
	entry->used = now;
	return entry->cached;
}

/* Find a program with what belongs to it. */
SfCachedProgram *
sf_program_cache_find(int machine_no, int version)
{
	return find(machine_no, version, true);
}

/* Find a program alone; NULL if this version of sfflow does not accept it. */
const SfProgram *
sf_program_cache_try(int machine_no, int version)
{
	SfCachedProgram *cached = find(machine_no, version, false);

	return cached == NULL ? NULL : cached->program;
}

/* Find a program alone. */
const SfProgram *
sf_program_cache_get(int machine_no, int version)
{
	return sf_program_cache_find(machine_no, version)->program;
}

/*
 * The public name of the role of a machine's executions: the one that the AWS API was
 * given, else the one that stands for the owner.
 */
char *
sf_program_cache_role(int machine_no, int version, Oid owner)
{
	const SfCachedProgram *cached = sf_program_cache_find(machine_no, version);
	char	   *name;

	if (cached->role_arn != NULL)
		return pstrdup(cached->role_arn);
	name = GetUserNameFromId(owner, true);
	return sf_public_name(SF_NAME_ROLE, name != NULL ? name : "unknown");
}
