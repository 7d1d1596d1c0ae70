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
	{"delayed_start",.of_execution = SF_ROWS_GO_ALONG},
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
	SF_REGISTRY_LIST(NOBODY)
};

const SfFeatureTable *sf_feature_tables;
const SfFeatureObject *sf_feature_objects;

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

	SF_FEATURES(machine_options, feature)
	{
		if (n == SF_MAX_OPTIONS)
			elog(ERROR, "more than %d features compile options", SF_MAX_OPTIONS);
		*feature->machine_options->number = n++;
	}
}

/* Facilities: which one, its name, and how many members come first that all of its features have */
static const struct
{
	SfMoment	facility;
	const char *name;
	Size		nmembers;		/* each a pointer */
}			facilities[] = {
#define FACILITY(facility, size) {SF_MOMENT_##facility, #facility, (size) / sizeof(void *)}
	FACILITY(machine_options, sizeof(SfFeatureOptions)),
	FACILITY(gate, offsetof(SfFeatureGate, parked_of_others)),
	FACILITY(resource, offsetof(SfFeatureResource, allows)),
	FACILITY(alerts, sizeof(SfFeatureAlerts)),
	FACILITY(sweep, offsetof(SfFeatureSweep, next_time)),
	FACILITY(holds, sizeof(SfFeatureHolds)),
	FACILITY(queues, sizeof(SfFeatureQueues)),
	FACILITY(line, sizeof(SfFeatureLine)),
	FACILITY(labels, sizeof(SfFeatureLabels)),
	FACILITY(traces, sizeof(SfFeatureTraces)),
	FACILITY(notices, sizeof(SfFeatureNotices)),
#undef FACILITY
};

/* Where SfFeature has what is for a moment, or a facility */
static const size_t offsets[] = {
#define OFFSET(moment) offsetof(SfFeature, moment),
	SF_REGISTRY_LIST(OFFSET)
#undef OFFSET
};

/* What a feature has for a moment, or of a facility; NULL: nothing */
static const void *
member_of(const SfFeature *feature, SfMoment moment)
{
	return *(const void *const *) ((const char *) feature + offsets[moment]);
}

/* Check that a feature has all members of the facilities that it has. */
static void
check_facilities(const SfFeature *feature)
{
	for (Size f = 0; f < lengthof(facilities); f++)
	{
		const void *const *members = member_of(feature, facilities[f].facility);

		for (Size n = 0; members != NULL && n < facilities[f].nmembers; n++)
			if (members[n] == NULL)
				elog(ERROR, "feature \"%s\" lacks a member of %s", feature->name, facilities[f].name);
	}
	if (feature->sweep != NULL && (feature->sweep->next_time != NULL) == (feature->sweep->has_work != NULL))
		elog(ERROR, "feature \"%s\" sweeps at no time, or at two", feature->name);
	if ((feature->holds != NULL || feature->queues != NULL) && feature->gate == NULL)
		elog(ERROR, "feature \"%s\" has no gate, where holds and queues have branches wait", feature->name);
	if ((feature->line != NULL || feature->labels != NULL || feature->prepare != NULL) && feature->machine_options == NULL)
		elog(ERROR, "feature \"%s\" compiles no options, of which it is to be told", feature->name);
}

/* Check that one feature at most has what only one may have. */
static void
check_providers(void)
{
#define CHECK(facility) \
	if (SF_PROVIDER(facility) != NULL && sf_features_at[SF_MOMENT_##facility][1] != NULL) \
		elog(ERROR, "more than one feature has %s", #facility);
	SF_PROVIDER_LIST(CHECK)
#undef CHECK
}

/* Take the features that there are, in the order of calls. */
void
sf_feature_register(const SfFeature *const *features, int count)
{
	for (int i = 0; i < count; i++)
		check_facilities(features[i]);
	for (int m = 0; m < SF_MOMENT_COUNT; m++)
	{
		const SfFeature **at = allocate((count + 1) * sizeof(SfFeature *));
		int			n = 0;

		for (int i = 0; i < count; i++)
			if (member_of(features[i], m) != NULL)
				at[n++] = features[i];
		sf_features_at[m] = at;
	}
	check_providers();
	pack_data(features, count);
	number_options();
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
	SF_FEATURES(gate, feature)
		if (name != NULL && strcmp(feature->name, name) == 0)
			return feature->gate->waiting_word;
	return "held";
}

/* The context of a trace that what a branch does in a state passes on; NULL: its execution is part of none. */
char *
sf_feature_trace_context(const SfExecution *execution, const SfBranch *branch, const SfState *state, bool by_worker)
{
	const SfFeature *feature = SF_PROVIDER(traces);

	if (execution->trace == NULL || feature == NULL)
		return NULL;
	return feature->traces->context_of(execution, branch, state, by_worker);
}

/* The labels in the row of an execution have changed from those that it had, or NULL. */
void
sf_feature_labels_changed(const SfExecution *execution, const Jsonb *before)
{
	const SfFeature *feature = SF_PROVIDER(labels);

	if (feature != NULL && (before != NULL || execution->labels != NULL))
		feature->labels->on_changed(execution, before);
}

/* Tell whether an object (SF_OBJECT_…) is held, so that it gives no work away. */
bool
sf_feature_is_held(SfObjectKind kind, const char *name)
{
	const SfFeature *feature = SF_PROVIDER(holds);

	return feature != NULL && feature->holds->is_held(kind, name);
}

/* Tell whether a feature wants to know of changes of a kind, of an execution or (NULL) of anything. */
bool
sf_feature_wants_notice(SfChangeKind kind, const SfExecution *execution)
{
	const SfFeature *feature = SF_PROVIDER(notices);

	return feature != NULL && feature->notices->wants(kind, execution);
}

/* Say what of a feature uses an object; NULL: nothing. */
const char *
sf_feature_use_of(SfObjectKind kind, const char *name)
{
	const char *use = NULL;

	SF_FEATURES(use_of, feature)
		if (use == NULL)
			use = feature->use_of(kind, name);
	return use;
}

/* Tell whether what a branch is parked for still applies to it. */
SfParking
sf_feature_still_parks(const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	SF_FEATURES(gate, feature)
		if (strcmp(feature->name, parked->feature) == 0)
			return feature->gate->still_parks(draft, branch, parked);
	/* the library was built without the feature since */
	return SF_PARKING_GONE;
}
