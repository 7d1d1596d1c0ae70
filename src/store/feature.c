/*
 * feature.c
 *		The registry of features.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "store/feature.h"

/* What belongs to the core; the rows of branch and open_execution are deleted by purge_delete.c itself. */
static const SfFeatureTable core_tables[] = {
	{"history",.of_execution = SF_ROWS_GO_ALONG},
	{"task",.of_execution = SF_ROWS_GO_ALONG},
	{"start_request",.of_execution = SF_ROWS_GO_ALONG},
	{"map_item",.of_execution = SF_ROWS_GO_ALONG},
	{"map_run",.of_execution = SF_ROWS_GO_ALONG},
	{"failure",.of_execution = SF_ROWS_GO_ALONG},
	{"acknowledgement",.of_execution = SF_ROWS_GO_ALONG},
	{"audit",.of_execution = SF_ROWS_GO_ALONG},
	{"parked",.of_execution = SF_ROWS_STAY},
	{"purge_position",.of_machine = true},
	{"version_publication",.of_machine = true},
	{"machine_alias",.of_machine = true},
	{"state_machine_version",.of_machine = true},
	{"state_machine",.cached = true,.by_role = "state_machine_owner"},
	{"privilege",.cached = true,.by_role = "privilege_role"},
	{"resource_map",.cached = true,.by_role = "resource_map_pkey"},
	{"activity",.by_role = "activity_owner"},
};

static const SfFeature *const nobody = NULL;

const SfFeature *const *sf_features_at[SF_MOMENT_COUNT] = {
#define NOBODY(moment) &nobody,
	SF_MOMENT_LIST(NOBODY)
};

const SfFeatureTable *sf_feature_tables;
const SfFeatureObject *sf_feature_objects;
const struct SfDeliverer *sf_feature_deliverer;

/* Allocate what lasts as long as the process. */
static void *
allocate(Size size)
{
	return MemoryContextAllocZero(TopMemoryContext, size);
}

/* Put the tables of the core, and tables and kinds of objects of the features, into one array each. */
static void
pack_data(const SfFeature *const *features, int count)
{
	int			ntables = lengthof(core_tables);
	int			nobjects = 0;
	SfFeatureTable *tables;
	SfFeatureObject *objects;

	for (int i = 0; i < count; i++)
	{
		for (const SfFeatureTable *t = features[i]->tables; t != NULL && t->name != NULL; t++)
			ntables++;
		for (const SfFeatureObject *o = features[i]->objects; o != NULL && o->prefix != NULL; o++)
			nobjects++;
	}
	sf_feature_tables = tables = allocate((ntables + 1) * sizeof(SfFeatureTable));
	sf_feature_objects = objects = allocate((nobjects + 1) * sizeof(SfFeatureObject));
	memcpy(tables, core_tables, sizeof(core_tables));
	tables += lengthof(core_tables);
	for (int i = 0; i < count; i++)
	{
		for (const SfFeatureTable *t = features[i]->tables; t != NULL && t->name != NULL; t++)
			*tables++ = *t;
		for (const SfFeatureObject *o = features[i]->objects; o != NULL && o->prefix != NULL; o++)
			*objects++ = *o;
	}
}

/* Number the features that compile options. */
static void
number_options(void)
{
	int			n = 0;

	SF_FEATURES(compiles_options, feature)
	{
		if (n == SF_MAX_OPTIONS)
			elog(ERROR, "more than %d features compile options", SF_MAX_OPTIONS);
		*feature->option = n++;
	}
}

/*
 * Functions that go together.  A feature has all of a group or none; of functions that exclude each other,
 * since they answer one question in two ways, it has at most one.
 */
static const struct
{
	const char *name;
	bool		excludes;		/* a feature has at most one of the members */
	size_t		members[4];		/* offsets in SfFeature, up to 0 */
}			groups[] = {
#define AT(moment) offsetof(SfFeature, moment)
	{"queues", false, {AT(has_room), AT(queue_owner), AT(tend), AT(wake_at_commit)}},
	{"waits", false, {AT(begins_wait), AT(writes_wait), AT(probe)}},
	{"targets of rules", false, {AT(requires_emit), AT(emits), AT(depth_of_received)}},
	{"lines of starts", false, {AT(line_option), AT(enters_line), AT(gives_up_line), AT(reenters_line)}},
	{"compiled options", false, {AT(option), AT(compiles_options)}},
	{"notices", false, {AT(wants_notice), AT(noticed)}},
	{"alerts", false, {AT(alert_kinds), AT(alert_target), AT(acknowledge)}},
	{"sweeps", false, {AT(sweep_name), AT(sweep)}},
	{"times of sweeps", true, {AT(next_sweep), AT(sweeps_if)}},
#undef AT
};

/* Does a feature have a function, or what stands beside functions? */
static bool
has_member(const SfFeature *feature, size_t offset)
{
	return *(void *const *) ((const char *) feature + offset) != NULL;
}

/* Check that a feature has the functions that go together, and of those that exclude each other at most one. */
static void
check_groups(const SfFeature *feature)
{
	for (Size g = 0; g < lengthof(groups); g++)
	{
		Size		n = 0;
		Size		has = 0;

		for (; n < lengthof(groups[g].members) && groups[g].members[n] != 0; n++)
			has += has_member(feature, groups[g].members[n]);
		if (groups[g].excludes ? has > 1 : has != 0 && has != n)
			elog(ERROR, "feature \"%s\" has %d of %d functions for %s", feature->name, (int) has, (int) n,
				 groups[g].name);
	}
	if ((feature->sweep != NULL) != (feature->next_sweep != NULL || feature->sweeps_if != NULL))
		elog(ERROR, "feature \"%s\" sweeps at no time, or has a time and no sweep", feature->name);
}

/* Take the features that there are, in the order of calls. */
void
sf_feature_register(const SfFeature *const *features, int count)
{
#define OFFSET(moment) offsetof(SfFeature, moment),
	static const size_t offsets[] = {SF_MOMENT_LIST(OFFSET)};

	for (int i = 0; i < count; i++)
		check_groups(features[i]);
	for (int m = 0; m < SF_MOMENT_COUNT; m++)
	{
		const SfFeature **at = allocate((count + 1) * sizeof(SfFeature *));
		int			n = 0;

		for (int i = 0; i < count; i++)
			if (has_member(features[i], offsets[m]))
				at[n++] = features[i];
		sf_features_at[m] = at;
	}
	pack_data(features, count);
	number_options();
	for (int i = 0; i < count; i++)
		if (features[i]->deliverer != NULL)
			sf_feature_deliverer = features[i]->deliverer;
}

/* The index of a feature among those that sweep. */
int
sf_feature_sweep_number(const SfFeature *feature)
{
	for (int n = 0; n < SF_MAX_SWEEPS && sf_features_at[SF_MOMENT_sweep][n] != NULL; n++)
		if (sf_features_at[SF_MOMENT_sweep][n] == feature)
			return n;
	elog(ERROR, "a feature is not among the first %d that sweep", SF_MAX_SWEEPS);
}

/* Say what a branch waits for that a feature (NULL: none) has parked, in one word. */
const char *
sf_feature_waiting_word(const char *name)
{
	SF_FEATURES(still_parks, feature)
		if (name != NULL && strcmp(feature->name, name) == 0)
			return feature->waiting_word;
	return "held";
}

/* The context of a trace that what a branch does in a state passes on; NULL: its execution is part of none. */
char *
sf_feature_trace_context(const SfExecution *execution, const SfBranch *branch, const SfState *state, bool by_worker)
{
	if (execution->trace == NULL)
		return NULL;
	SF_FEATURES(trace_context, feature)
		return feature->trace_context(execution, branch, state, by_worker);
	return NULL;
}

/* Tell whether an object (SF_OBJECT_…) is held, so that it gives no work away. */
bool
sf_feature_is_held(SfObjectKind kind, const char *name)
{
	SF_FEATURES(is_held, feature)
		if (feature->is_held(kind, name))
			return true;
	return false;
}

/* Tell whether a feature wants to know of changes of a kind, of an execution or (NULL) of anything. */
bool
sf_feature_wants_notice(SfChangeKind kind, const SfExecution *execution)
{
	SF_FEATURES(wants_notice, feature)
		if (feature->wants_notice(kind, execution))
			return true;
	return false;
}

/* Say what of a feature uses an object; NULL: nothing. */
const char *
sf_feature_use_of(SfObjectKind kind, const char *name)
{
	const char *use = NULL;

	SF_FEATURES(uses, feature)
		if (use == NULL)
			use = feature->uses(kind, name);
	return use;
}

/* Tell whether what a branch is parked for still applies to it. */
SfParking
sf_feature_still_parks(const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	SF_FEATURES(still_parks, feature)
		if (strcmp(feature->name, parked->feature) == 0)
			return feature->still_parks(draft, branch, parked);
	/* the library was built without the feature since */
	return SF_PARKING_GONE;
}
