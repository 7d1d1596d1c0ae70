/*
 * human.h
 *		Tasks of people: worklists, and the branches that wait for people.
 *
 * A Task whose Resource is human:NAME has a row of _sfflow.human_task while its branch waits, in phase EXTERNAL.  The
 * row is written with the branch, and goes when the branch leaves the state, whatever the reason.  An answer goes into
 * the branch's row, as that of a task with a token.
 *
 * Locks: branch, then the task's row.  A session that changes a task, by a claim, too, locks both: workers skip a
 * branch that a session has locked, but would have to wait for the row of its task.  So of two who claim a task the
 * first one has it.
 */
#ifndef SF_FEATURE_HUMAN_H
#define SF_FEATURE_HUMAN_H

#include "fmgr.h"

#include "db/keyed_cache.h"
#include "run/apply/apply.h"

/* --- worklist.c --- */

/* What backends keep of a row of _sfflow.worklist */
typedef struct SfWorklist
{
	int			worklist_no;
	char	   *name;
	Oid			owner;
} SfWorklist;

extern SfKeyedCache sf_worklist_cache;

/* Tell whether there may be worklists, as far as this transaction has taken in what others have changed. */
static inline bool
sf_worklist_may_be(void)
{
	return sf_keyed_cache_may_be(&sf_worklist_cache);
}

extern const SfWorklist *sf_worklist_find(const char *name);
extern const SfWorklist *sf_worklist_require(const char *text, int privilege);
extern Oid	sf_worklist_require_own(const char *name);
extern Oid	sf_worklist_set_owner(const char *name, Oid owner);
extern bool sf_worklist_insert(const char *name, const char *description, const Jsonb *form);
extern bool sf_worklist_update(const char *name, const char *description, const Jsonb *form);
extern void sf_worklist_delete(int worklist_no);

/* --- form.c --- */

extern void sf_form_check(const Jsonb *form);
extern char *sf_form_refuses(const Jsonb *form, const Jsonb *output, char **pointer);

/* --- person.c --- */

/* Who acts */
typedef struct SfPerson
{
	const char *role;
	const char *login;
	bool		is_relayed;		/* the login calls for the role, as sfgateway does */
	const char *actor;			/* for whom the role acts; NULL: for itself */
	const char *name;			/* the actor, or the role */
} SfPerson;

/* A task that waits for people */
typedef struct SfHumanTask
{
	SfBranchKey key;
	int64		task_no;
	int			generation;
	char	   *worklist;
	Oid			owner;			/* of the worklist */
	char	   *claimed_by;		/* or NULL */
	Jsonb	   *form;			/* or NULL */
	char	   *title;
	int			priority;
	TimestampTz due_at;			/* DT_NOEND: not said */
	const char *state;
	bool		for_all;		/* who may do tasks of the worklist, whatever their roles */
	SfExecution *execution;
} SfHumanTask;

/* Why a person may not do a task */
typedef struct SfBar
{
	const char *message;
	const char *detail;
} SfBar;

extern SfPerson sf_person_of_caller(const char *actor);
extern SfPerson sf_person_of_role(Oid role);
extern bool sf_person_may(const SfHumanTask *task, const SfPerson *person, Oid role, SfBar *bar);
extern void sf_person_require(const SfHumanTask *task, const SfPerson *person, Oid role);
extern void sf_person_note_start(const SfExecution *execution);
extern void sf_person_delete_start(int64 execution_no);

/* --- human_wait.c --- */

extern void sf_human_begin(SfDraft *draft, const SfBranch *branch, const SfResource *resource,
						   const SfTaskRequest *request, SfStimulus *stimulus);
extern void sf_human_write(const SfFeatureWait *wait);
extern char *sf_human_problem_of(const SfResource *resource);

/* --- human_task.c --- */

/* What has become of a task: the word that is stored, and what the audit calls it (NULL: no person has done it) */
#define SF_HUMAN_ACTION_LIST(X) \
	X(CREATED, NULL) \
	X(CLAIMED, "claim task") \
	X(RELEASED, "release task") \
	X(ASSIGNED, "assign task") \
	X(CHANGED, "change task") \
	X(DUE, NULL)		/* its time is over */ \
	X(ESCALATED, NULL)	/* it is for more roles */ \
	X(COMPLETED, "complete task") \
	X(FAILED, "fail task") \
	X(CANCELLED, NULL)	/* its branch has left the state without an answer */

#define SF_HUMAN_ACTION_ENUM(sym, audited) SF_HUMAN_ACTION_##sym,
typedef enum SfHumanAction
{
	SF_HUMAN_ACTION_LIST(SF_HUMAN_ACTION_ENUM)
} SfHumanAction;

/* A role that a task is for */
typedef struct SfHumanRole
{
	Oid			role;
	TimestampTz from_at;		/* DT_NOBEGIN: from the beginning on */
} SfHumanRole;

extern SfHumanTask *sf_human_lock(int64 task_no);
extern SfHumanTask *sf_human_read_waiting(int64 task_no);
extern void sf_human_claim(const SfHumanTask *task, const SfPerson *person);
extern void sf_human_assign(const SfHumanTask *task, const char *to);
extern void sf_human_insert_roles(SfBranchKey key, const List *roles);
extern void sf_human_change(const SfHumanTask *task, bool has_roles, const List *roles, SfArg due, SfArg priority);
extern void sf_human_rename_states(int64 execution_no, const Jsonb *renames);
extern void sf_human_created(int64 task_no);
extern void sf_human_delete(SfBranchKey key);
extern void sf_human_cancel(SfBranchKey key);
extern void sf_human_cancel_all(int64 execution_no);
extern void sf_human_delete_roles(SfArg numbers);
extern void sf_human_anchor_roles(SfArg numbers);

/* --- human_sweep.c: what time brings --- */

extern TimestampTz sf_human_next_sweep(void);
extern SfSweepResult sf_human_sweep(TimestampTz now);
extern void sf_human_schedule_sweep(void);
extern void sf_human_set_sweep(int64 task_no);

/* --- human_note.c --- */

extern void sf_human_note(const SfHumanTask *task, SfHumanAction action, const SfPerson *person, const char *comment,
						  const Jsonb *details);
extern void sf_human_rename_notes(int64 execution_no, const Jsonb *renames);
extern void sf_human_delete_notes(int64 execution_no);

#endif							/* SF_FEATURE_HUMAN_H */
