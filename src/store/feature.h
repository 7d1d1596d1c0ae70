/*
 * feature.h
 *		The registry: what the engine asks and tells the features.
 *
 * A feature is a room, src/feature/NAME/, and one SfFeature in the list of src/feature/features.c.  The order of
 * that list is the order of calls, and of locks: an execution, its branches, then the rows of features in this
 * order.
 *
 * For each moment there is a packed array of the features that have a function for it (sf_features_at), so that a
 * moment costs a look at a null pointer where no feature wants to know of it.  What comes more often than once a step,
 * such as counting, does not belong here.
 *
 * It lies in store/, below what calls the features, so that every layer from there on can.  feature_values.h has what
 * goes in and out at the moments; feature_tables.h what the store does itself with the tables and objects of features.
 */
#ifndef SF_STORE_FEATURE_H
#define SF_STORE_FEATURE_H

#include "asl/program.h"
#include "base/error/errors.h"
#include "base/time/clock.h"
#include "store/feature_tables.h"
#include "store/feature_values.h"

struct SfDeliverer;
struct SfDraft;
struct SfStimulus;
struct SfTaskRequest;
struct SfFeatureWait;

/* All functions may be NULL; which of them go together, or exclude each other, is checked at load (feature.c). */
typedef struct SfFeature
{
	const char *name;
	const SfFeatureTable *tables;	/* up to one without a name; or NULL */
	const SfFeatureObject *objects; /* up to one without a prefix; or NULL */
	const char *waiting_word;	/* what waiting_on says of a branch that the feature has parked */
	const char *const *alert_kinds; /* that may be acknowledged, up to NULL; or NULL */

	const char *const *start_options; /* that starts may have, up to NULL; or NULL */
	const char *const *machine_options; /* that versions of machines may have, up to NULL; or NULL */

	const struct SfDeliverer *deliverer;	/* calls of user code that workers make (deliverer.h): one feature's; or NULL */

	/* The library is loaded: reserve shared memory.  Comes before the workers. */
	void		(*init) (void);

	/*
	 * A branch is about to begin a step.  Only its row is locked, and user code may follow: locks are tried, never
	 * waited for.  The caller has read the clock, then taken in changes of others.  If the branch has to
	 * wait, it is changed to do so; or the state fails, with *error.  A feature that takes something, such
	 * as a slot, is the last of the list: none behind it may refuse.  What it takes it notes in the draft (taken).
	 */
	SfGate		(*may_begin) (struct SfDraft *draft, SfBranch *branch, SfError *error);

	/* A branch may begin a step: has an operator marked its job?  Then *stimulus says how. */
	bool		(*finds_mark) (const struct SfDraft *draft, const SfBranch *branch, struct SfStimulus *stimulus);

	/* Does the object that the feature has parked a branch for still apply to it? */
	SfParking	(*still_parks) (const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked);

	/*
	 * Queues of parked branches (park.h), which are one feature's: may the first branch of a queue begin, and is what
	 * it needs taken for it; whose branches alone are in it (InvalidOid: of all); mend what errors and crashes
	 * have left, with each scan for everything due: when to do so again before the next poll; tell a queue, once the
	 * transaction has committed and what it has taken is free, that something waits.
	 */
	bool		(*has_room) (SfQueue queue, const SfQueuedBranch *first);
	Oid			(*queue_owner) (SfQueue queue);
	SfTick		(*tend) (void);
	void		(*wake_at_commit) (SfQueue queue, Oid owner);

	/*
	 * A task of the resources that the feature runs begins to wait: *stimulus says that it does, or why it
	 * cannot.  What it waits for, an SfFeatureWait, is put into the waits of the draft, and written after the branches,
	 * when no user code follows.  Are the parameters of such a task right, in a test of its state?  Why a machine
	 * of the caller cannot use such a resource; NULL: it can.
	 */
	SfResourceKind waits_for;
	void		(*begins_wait) (struct SfDraft *draft, const SfBranch *branch, const SfResource *resource,
								const struct SfTaskRequest *request, struct SfStimulus *stimulus);
	void		(*writes_wait) (const struct SfFeatureWait *wait);
	bool		(*checks_wait) (const SfResource *resource, const Jsonb *parameters, SfError *error);
	char	   *(*probe) (const SfResource *resource);

	/*
	 * The target of a rule is a type of events of the feature: raise unless a role may emit events of it; emit one
	 * of that type as the role, with key, payload and id (else: another one) of an object.  How many rules led to
	 * what an execution has received.
	 */
	void		(*requires_emit) (const char *name, Oid owner);
	void		(*emits) (const char *name, Oid owner, Jsonb *event, char *id);
	int			(*depth_of_received) (int64 execution_no);

	/* The task of a step is announced, for a transaction of its own: what only its run needs is given back. */
	void		(*announced) (struct SfDraft *draft);

	/* A branch has left a state that it was inside of (sf_branch_is_inside): in the transaction that writes it. */
	void		(*left_state) (SfBranchKey key);

	/* A slice has done its work, and is written next. */
	void		(*slice_ends) (void);

	/* The registry sets *option to a number of the feature, by which compiled options are found (SF_COMPILED). */
	int		   *option;

	/* Compile what the options of a version say, in the current memory context, or raise; NULL: they say nothing. */
	void	   *(*compiles_options) (const Jsonb *options, const SfProgram *program);

	/*
	 * Give an execution, which is written next, the labels that the compiled options (or NULL) and those of its start
	 * say.  False: *error.
	 */
	bool		(*labels) (SfExecution *execution, const void *compiled, SfError *error);

	/* The labels that the execution of an item of a Distributed Map gets of its parent; NULL: none. */
	Jsonb	   *(*child_labels) (const SfExecution *parent, const void *compiled);

	/*
	 * The context that what a branch does in a state passes on: traceparent and, after a blank, tracestate.  The
	 * execution is part of a trace.  by_worker: what a worker of an activity does.
	 */
	char	   *(*trace_context) (const SfExecution *execution, const SfBranch *branch, const SfState *state,
								  bool by_worker);

	/* The labels in the row of an execution have changed; before: those that it had, or NULL. */
	void		(*relabelled) (const SfExecution *execution, const Jsonb *before);

	/*
	 * An execution is to begin, of a version with options that the feature has compiled (else NULL): give it what
	 * is the feature's, as the trace that it is part of, or raise if it may not begin here.  What the feature needs
	 * when it begins is in SF_OF_START.
	 */
	void		(*prepares) (SfExecution *execution, const void *compiled);

	/*
	 * An execution is to begin, and its version has options that the feature has compiled (else NULL), or its start
	 * has the option line_option: it enters a line of starts; if one that waits takes its place, that one's number and
	 * id are in it.  There is one of this id, which is about to begin anew (restarts), or to be replaced, with what is
	 * wanted: it enters a line again.
	 */
	const char *line_option;
	SfBegan		(*enters_line) (SfExecution *execution, const void *compiled);
	void		(*gives_up_line) (const SfExecution *execution);	/* its id was taken */
	void		(*reenters_line) (const SfExecution *there, SfExecution *wanted, const void *compiled, bool restarts);

	/*
	 * An execution with start.options or start.at begins, or begins anew: when its root is due, which is now unless
	 * this changes it.  Comes before begins.
	 */
	void		(*sets_start_time) (const SfExecution *execution, TimestampTz *due);

	/* An execution begins: its root is written after this. */
	void		(*begins) (const SfExecution *execution, SfBranch *root);

	/*
	 * The rights of roles have changed: list what the feature has parked of machines of whose owners the roles have no
	 * rights whose objects these are, a List of SfParked.
	 */
	List	   *(*parked_of_others) (void);

	/* ... and apply what else follows from them; false: not all, since another session has locked some of it. */
	bool		(*roles_changed) (void);

	/*
	 * A machine (or SF_ALL_MACHINES) has another owner, or other mappings have those with whose owners' rights a role
	 * acts (InvalidOid: all): apply to what runs of them what is for it now.
	 */
	void		(*uses_changed) (int machine_no, Oid owner);

	/* An execution, locked, with its branches, has ended; began_here: the transaction has also begun it. */
	void		(*ended) (const SfExecution *execution, bool began_here);

	/*
	 * An execution, no item of a Distributed Map, of a version with options that the feature has compiled has
	 * begun, or goes on after a redrive, let by may_begin: rows are written.
	 */
	void		(*begun) (const SfExecution *execution, const void *compiled);

	/* One that has ended goes on. */
	void		(*redriven) (const SfExecution *execution);

	/* An execution is of another version, from here on. */
	void		(*migrated) (const SfExecution *execution, int before);

	/* One begins anew; if it is rewound, redriven follows. */
	void		(*begins_anew) (const SfExecution *execution, SfAnew how);

	/* One is migrated, with other names of states, which the feature's rows have. */
	void		(*states_renamed) (const SfMigration *migration);

	/* Its branches, locked, are at other states or resources; called after states_renamed, if it runs. */
	void		(*states_changed) (struct SfDraft *draft);

	/*
	 * Executions are deleted with their machine, whatever they did: an array of their numbers.  Of their branches
	 * those are left that workers have locked.
	 */
	void		(*executions_dropped) (SfArg numbers);

	/*
	 * Executions are moved to another node: an array of their numbers.  departs: their rows, which are locked and were
	 * copied, are deleted next.  arrives: their rows have been inserted; from_node has its number by sf_set_node.
	 */
	void		(*departs) (SfArg numbers);
	void		(*arrives) (SfArg numbers, int from_node);

	/*
	 * A session is about to write rows of an execution that it has not locked: keep it on this node until the end of
	 * the transaction, or wait until it has left.
	 */
	void		(*keep_here) (int64 execution_no);

	/* The node to which an execution was moved that is not here; SF_NO_NODE: it was not. */
	int			(*left_to) (int64 execution_no);

	/* List runs of executions that are planned from one time up to another, as SfPlannedRun. */
	List	   *(*planned) (TimestampTz since, TimestampTz until, TimestampTz now);

	/*
	 * Raise unless the caller's machines may have an activity as their archive, of which the feature hands
	 * executions out.
	 */
	void		(*checks_archive) (const char *activity);

	/* Must an ended execution, whose row the purge has locked, stay?  Never waits. */
	bool		(*retains) (int64 execution_no);

	/* Is an object (SF_OBJECT_…) held, so that it gives no work away? */
	bool		(*is_held) (SfObjectKind kind, const char *name);

	/* A schedule has started an execution in this transaction. */
	void		(*scheduled) (const char *schedule, const char *execution_id);

	/* Does it want to know of changes of a kind, of an execution or (NULL) of anything?  Then it is told. */
	bool		(*wants_notice) (SfChangeKind kind, const SfExecution *execution);
	void		(*noticed) (const SfNotice *notice);

	/*
	 * The statuses of an execution and of its jobs have changed: a List of SfChange.  Rows are written; the caller
	 * commits.
	 */
	void		(*changed) (const SfExecution *execution, const List *changes);

	/* Find the target of an alert, if it is one of the feature's, or raise; returns its full name. */
	const char *(*alert_target) (const char *text);

	/* Acknowledge alerts, and tell of it; returns how many there were. */
	int64		(*acknowledge) (const SfAcknowledge *what);

	/* A machine has been given a new version. */
	void		(*version_made) (int machine_no, const char *machine, const SfProgram *program);

	/* An object (SF_OBJECT_…), which the caller has locked, has been written, or is being dropped. */
	void		(*object_changed) (SfObjectKind kind, const char *name);
	void		(*object_dropped) (SfObjectKind kind, const char *name);

	/*
	 * A machine is being dropped: its running executions are gone, others may be left to the purge.  Its rows in tables
	 * of features are deleted next.
	 */
	void		(*machine_dropped) (int machine_no);

	/* Say what of the feature uses an object, which therefore cannot be dropped; NULL: nothing. */
	const char *(*uses) (SfObjectKind kind, const char *name);

	/* What a role owned is another role's. */
	void		(*owner_changed) (Oid from, Oid to);

	/* sf_enable: rows may have come that no function of sfflow has written; adopted: all have, as in a copy. */
	void		(*enabled) (bool adopted);

	/* sf_set_node: the database is about to draw the numbers of a node; refuse by an error. */
	void		(*numbered) (int node);

	/* Rows of sf_health. */
	void		(*health) (SfHealthPut put, void *arg);

	/* Shared memory: a database is gone; branches that may have crashed the server are about to run one by one. */
	void		(*database_gone) (Oid database);
	void		(*suspects_run) (void);

	/*
	 * A sweep deals with what time has brought: with rows of the feature that are due.  next_sweep is asked in each
	 * scan for everything due, in its transaction, when to sweep; DT_NOEND: not now.  A feature that sweeps with each
	 * scan has sweeps_if in its place: is there anything to sweep?  wants_sweep is asked after each turn of a worker,
	 * outside of a transaction.  sweep has a transaction of its own, in which no branch is locked.
	 */
	const char *sweep_name;		/* "schedules", for pg_stat_activity */
	TimestampTz (*next_sweep) (void);
	bool		(*sweeps_if) (void);
	bool		(*wants_sweep) (void);
	SfSweepResult (*sweep) (TimestampTz now);
	int			sweep_pause_ms;	/* between two sweeps of which the first has left more; 0: it goes on at once */
	int			sweep_every_ms;	/* a database is swept no more often, unless there is more; 0: whenever it is asked */
	bool		sweeps_when_told;	/* a transaction may tell a worker to sweep, once it has committed: sf_hooks.sweep_soon */

	/* A session is about to advance an execution: find what this waits for; true: something has come. */
	bool		(*finds_awaited) (int64 execution_no);
	bool		locks_counters; /* a sweep locks what others wait for: it comes last, and not in a transaction block */
} SfFeature;

/* Features that sweep, at most */
#define SF_MAX_SWEEPS	16

/* The moments, functions of SfFeature, and the options that it has for starts and for machines */
#define SF_MOMENT_LIST(X) \
	X(init) \
	X(may_begin) \
	X(finds_mark) \
	X(still_parks) \
	X(has_room) \
	X(queue_owner) \
	X(tend) \
	X(wake_at_commit) \
	X(begins_wait) \
	X(writes_wait) \
	X(checks_wait) \
	X(probe) \
	X(requires_emit) \
	X(emits) \
	X(depth_of_received) \
	X(announced) \
	X(left_state) \
	X(slice_ends) \
	X(start_options) \
	X(machine_options) \
	X(compiles_options) \
	X(labels) \
	X(trace_context) \
	X(child_labels) \
	X(relabelled) \
	X(prepares) \
	X(enters_line) \
	X(gives_up_line) \
	X(reenters_line) \
	X(sets_start_time) \
	X(begins) \
	X(parked_of_others) \
	X(roles_changed) \
	X(uses_changed) \
	X(ended) \
	X(begun) \
	X(redriven) \
	X(migrated) \
	X(begins_anew) \
	X(states_renamed) \
	X(states_changed) \
	X(executions_dropped) \
	X(departs) \
	X(arrives) \
	X(keep_here) \
	X(left_to) \
	X(planned) \
	X(checks_archive) \
	X(retains) \
	X(is_held) \
	X(scheduled) \
	X(wants_notice) \
	X(noticed) \
	X(changed) \
	X(alert_target) \
	X(acknowledge) \
	X(version_made) \
	X(object_changed) \
	X(object_dropped) \
	X(machine_dropped) \
	X(uses) \
	X(owner_changed) \
	X(enabled) \
	X(numbered) \
	X(health) \
	X(database_gone) \
	X(suspects_run) \
	X(wants_sweep) \
	X(sweep) \
	X(finds_awaited)

#define SF_MOMENT_ENUM(moment) SF_MOMENT_##moment,
typedef enum SfMoment
{
	SF_MOMENT_LIST(SF_MOMENT_ENUM)
	SF_MOMENT_COUNT
} SfMoment;

/* For each moment, the features that have a function for it, in order, up to NULL */
extern const SfFeature *const *sf_features_at[SF_MOMENT_COUNT];

/* What a feature has compiled, of all that was compiled of a version */
#define SF_COMPILED(feature, compiled) ((compiled)[*(feature)->option])

/* What a feature keeps of an execution that is to begin, a text or NULL, by the number of its options */
#define SF_OF_START(execution, option) ((execution)->start.of_features[option])

/* Go through the features that have a function for a moment. */
#define SF_FEATURES(moment, feature) \
	for (const SfFeature *const *next_ = sf_features_at[SF_MOMENT_##moment], *feature; \
		 (feature = *next_) != NULL; next_++)

/* Tell all features of a moment. */
#define SF_TELL(moment, ...) \
	do { SF_FEATURES(moment, feature_) feature_->moment(__VA_ARGS__); } while (0)

extern void sf_features_init(void);	/* src/feature/features.c */
extern void sf_feature_register(const SfFeature *const *features, int count);
extern int	sf_feature_sweep_number(const SfFeature *feature);
extern const char *sf_feature_waiting_word(const char *name);
extern char *sf_feature_trace_context(const SfExecution *execution, const SfBranch *branch, const SfState *state,
									   bool by_worker);
extern bool sf_feature_is_held(SfObjectKind kind, const char *name);
extern bool sf_feature_wants_notice(SfChangeKind kind, const SfExecution *execution);
extern const char *sf_feature_use_of(SfObjectKind kind, const char *name);
extern SfParking sf_feature_still_parks(const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked);

/* The deliverer of the feature that has one; NULL: there is none */
extern const struct SfDeliverer *sf_feature_deliverer;

#endif							/* SF_STORE_FEATURE_H */
