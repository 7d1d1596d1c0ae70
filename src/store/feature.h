/*
 * feature.h
 *		The registry: what the engine asks and tells the features.
 *
 * A feature is a room, src/feature/NAME/, and one SfFeature in the list of src/feature/features.c.  The order of
 * that list is the order of calls, and of locks: an execution, its branches, then the rows of features in this
 * order.
 *
 * SfFeature has the moments of which any feature may want to know, and for each optional facility, such as a gate or
 * a sweep, a pointer to a struct of its own, which is declared beside what it is for (feature_….h).  A feature that
 * has a facility has all of its members but those that the struct says may be NULL.
 *
 * Moments and members of facilities are named by what they are:
 *
 *	a question	the engine goes by the answer: a verb that the feature or what it is asked of is the subject of
 *				(admit, still_parks, retains), or what the answer is, a noun (planned_runs, use_of)
 *	a command	the feature is to do something, or to raise: an imperative (prepare, begin_wait, check_archive)
 *	a telling	something has happened or is about to, and there is no answer: on_ and a participle (on_ended,
 *				on_departing), or a noun (on_notice)
 *
 * For each moment, and each facility, there is a packed array of the features that have it (sf_features_at), so that
 * a moment costs a look at a null pointer where no feature wants to know of it.  What comes more often than once a
 * step, such as counting, does not belong here.
 *
 * It lies in store/, below what calls the features, so that every layer from there on can.  feature_values.h has what
 * goes in and out at the moments; feature_tables.h what the store does itself with the tables and objects of features.
 */
#ifndef SF_STORE_FEATURE_H
#define SF_STORE_FEATURE_H

#include "store/alert/feature_alerts.h"
#include "store/alert/feature_rule_target.h"
#include "store/branch/feature_gate.h"
#include "store/execution/feature_start.h"
#include "store/feature_sweep.h"
#include "store/feature_tables.h"
#include "store/feature_values.h"
#include "store/state_machine/feature_options.h"
#include "store/task/feature_resource.h"

struct SfDeliverer;

/* Everything but the name may be NULL. */
typedef struct SfFeature
{
	const char *name;
	const SfFeatureTable *tables;	/* up to one without a name */
	const SfFeatureObject *objects; /* up to one without a prefix */
	const char *const *start_options;	/* that starts may have, up to NULL */

	/* --- facilities --- */

	const SfFeatureOptions *machine_options;	/* it compiles options that versions of machines may have */
	const SfFeatureGate *gate;	/* it may have branches wait before their steps */
	const SfFeatureResource *resource;	/* it runs tasks */
	const SfFeatureAlerts *alerts;	/* it has alerts that may be acknowledged */
	const SfFeatureSweep *sweep;	/* it deals with what time brings */

	/* ... and those that one feature at most has (SF_PROVIDER) */
	const SfFeatureHolds *holds;	/* operators hold objects and mark jobs */
	const SfFeatureQueues *queues;	/* branches wait in its queues */
	const SfFeatureLine *line;	/* executions wait in its lines */
	const SfFeatureLabels *labels;	/* executions have its labels */
	const SfFeatureTraces *traces;	/* executions are part of its traces */
	const SfFeatureNotices *notices;	/* it learns of changes, */
	const struct SfDeliverer *deliverer;	/* makes calls of user code in workers (run/task/deliverer.h), */
	const SfRuleTarget *rule_target;	/* and emits the events that rules have for targets */

	/* --- moments: the life of an execution --- */

	/*
	 * An execution is to begin, of a version with options that the feature has compiled (else NULL): give it what
	 * is the feature's, as the trace that it is part of, or raise if it may not begin here.  What the feature needs
	 * when it begins is in SF_OF_START.
	 */
	void		(*prepare) (SfExecution *execution, const void *compiled);

	/*
	 * An execution with start.options or start.at begins, or begins anew: set when its root is due, which is now unless
	 * this changes it.  Comes before on_beginning.
	 */
	void		(*set_start_time) (const SfExecution *execution, TimestampTz *due);

	/* An execution begins: its root is written after this. */
	void		(*on_beginning) (const SfExecution *execution, SfBranch *root);

	/* A branch has left a state that it was inside of (sf_branch_is_inside): in the transaction that writes it. */
	void		(*on_left_state) (SfBranchKey key);

	/* An execution, locked, with its branches, has ended; began_here: the transaction has also begun it. */
	void		(*on_ended) (const SfExecution *execution, bool began_here);

	/* One that has ended goes on. */
	void		(*on_redriven) (const SfExecution *execution);

	/* One begins anew; if it is rewound, on_redriven follows. */
	void		(*on_begun_anew) (const SfExecution *execution, SfAnew how);

	/* One is migrated, with other names of states, which the feature's rows have. */
	void		(*on_states_renamed) (const SfMigration *migration);

	/* An execution is of another version, from here on. */
	void		(*on_migrated) (const SfExecution *execution, int before);

	/*
	 * Executions are deleted with their machine, whatever they did: an array of their numbers.  Of their branches
	 * those are left that workers have locked.
	 */
	void		(*on_executions_dropped) (SfArg numbers);

	/* Must an ended execution, whose row the purge has locked, stay?  Never waits. */
	bool		(*retains) (int64 execution_no);

	/* Raise unless the caller's machines may have an activity as their archive, of which it hands executions out. */
	void		(*check_archive) (const char *activity);

	/* --- moves between nodes --- */

	/*
	 * The lines in which some executions stand, an array of their numbers, with all that stands in these lines: a
	 * List of SfTie.  If locked, nothing enters or leaves them until the transaction ends, but those that are busy.
	 */
	List	   *(*ties_of) (SfArg numbers, bool locked);

	/*
	 * Executions are moved to another node: an array of their numbers.  Their rows, which are locked and were copied,
	 * are deleted next; or they have been inserted: from_node has its number by sf_set_node.
	 */
	void		(*on_departing) (SfArg numbers);
	void		(*on_arrived) (SfArg numbers, int from_node);

	/*
	 * A session is about to write rows of an execution that it has not locked: keep it on this node until the end of
	 * the transaction, or wait until it has left.
	 */
	void		(*keep_here) (int64 execution_no);

	/* The node to which an execution was moved that is not here; SF_NO_NODE: it was not. */
	int			(*node_left_to) (int64 execution_no);

	/* sf_set_node: the database is about to draw the numbers of a node; raise if it must not. */
	void		(*check_node) (int node);

	/* --- machines and objects (SF_OBJECT_…) --- */

	/* Runs of executions that are planned from one time up to another: a List of SfPlannedRun. */
	List	   *(*planned_runs) (TimestampTz since, TimestampTz until, TimestampTz now);

	/* A machine has been given a new version. */
	void		(*on_version_made) (int machine_no, const char *machine, const SfProgram *program);

	/*
	 * A machine is being dropped: its running executions are gone, others may be left to the purge.  Its rows in tables
	 * of features are deleted next.
	 */
	void		(*on_machine_dropped) (int machine_no);

	/* An object, which the caller has locked, has been written, or is being dropped. */
	void		(*on_object_changed) (SfObjectKind kind, const char *name);
	void		(*on_object_dropped) (SfObjectKind kind, const char *name);

	/* What of the feature uses an object, which therefore cannot be dropped; NULL: nothing */
	const char *(*use_of) (SfObjectKind kind, const char *name);

	/* What a role owned is another role's. */
	void		(*on_owner_changed) (Oid from, Oid to);

	/* --- the database and the server --- */

	/* The library is loaded: reserve shared memory.  Comes before the workers. */
	void		(*init) (void);

	/* sf_enable: rows may have come that no function of sfflow has written; adopted: all have, as in a copy. */
	void		(*on_enabled) (bool adopted);

	/* Add rows to sf_health. */
	void		(*put_health) (SfHealthPut put, void *arg);

	/* A database is gone: so is what shared memory has of it. */
	void		(*on_database_gone) (Oid database);
} SfFeature;

/* Facilities that one feature at most has */
#define SF_PROVIDER_LIST(X) \
	X(holds) \
	X(queues) \
	X(line) \
	X(labels) \
	X(traces) \
	X(notices) \
	X(deliverer) \
	X(rule_target)

/* The moments and the facilities, and the options that a feature has for starts */
#define SF_REGISTRY_LIST(X) \
	X(start_options) \
	X(machine_options) \
	X(gate) \
	X(resource) \
	X(alerts) \
	X(sweep) \
	SF_PROVIDER_LIST(X) \
	X(prepare) \
	X(set_start_time) \
	X(on_beginning) \
	X(on_left_state) \
	X(on_ended) \
	X(on_redriven) \
	X(on_begun_anew) \
	X(on_states_renamed) \
	X(on_migrated) \
	X(on_executions_dropped) \
	X(retains) \
	X(check_archive) \
	X(ties_of) \
	X(on_departing) \
	X(on_arrived) \
	X(keep_here) \
	X(node_left_to) \
	X(check_node) \
	X(planned_runs) \
	X(on_version_made) \
	X(on_machine_dropped) \
	X(on_object_changed) \
	X(on_object_dropped) \
	X(use_of) \
	X(on_owner_changed) \
	X(init) \
	X(on_enabled) \
	X(put_health) \
	X(on_database_gone)

#define SF_MOMENT_ENUM(moment) SF_MOMENT_##moment,
typedef enum SfMoment
{
	SF_REGISTRY_LIST(SF_MOMENT_ENUM)
	SF_MOMENT_COUNT
} SfMoment;

/* For each moment, the features that have something for it, in order, up to NULL */
extern const SfFeature *const *sf_features_at[SF_MOMENT_COUNT];

/* Go through the features that have a function for a moment, or a facility. */
#define SF_FEATURES(moment, feature) \
	for (const SfFeature *const *next_ = sf_features_at[SF_MOMENT_##moment], *feature; \
		 (feature = *next_) != NULL; next_++)

/* Tell all features of a moment. */
#define SF_TELL(moment, ...) \
	do { SF_FEATURES(moment, feature_) feature_->moment(__VA_ARGS__); } while (0)

/* The feature that has a facility of SF_PROVIDER_LIST, or a moment that one feature at most has; NULL: none */
#define SF_PROVIDER(facility) (*sf_features_at[SF_MOMENT_##facility])

/* Tell that feature, or have it do something, if there is one. */
#define SF_TELL_PROVIDER(facility, function, ...) \
	do { \
		if (SF_PROVIDER(facility) != NULL) \
			SF_PROVIDER(facility)->facility->function(__VA_ARGS__); \
	} while (0)

extern void sf_features_init(void);	/* src/feature/features.c */
extern void sf_feature_register(const SfFeature *const *features, int count);
extern int	sf_feature_sweep_number(const SfFeature *feature);
extern const char *sf_feature_waiting_word(const char *name);
extern char *sf_feature_trace_context(const SfExecution *execution, const SfBranch *branch, const SfState *state,
									   bool by_worker);
extern void sf_feature_labels_changed(const SfExecution *execution, const Jsonb *before);
extern bool sf_feature_is_held(SfObjectKind kind, const char *name);
extern bool sf_feature_wants_notice(SfChangeKind kind, const SfExecution *execution);
extern const char *sf_feature_use_of(SfObjectKind kind, const char *name);
extern SfParking sf_feature_still_parks(const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked);

#endif							/* SF_STORE_FEATURE_H */
