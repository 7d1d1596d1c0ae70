/*
 * work_key.h
 *		Keys of what workers come to: branches, and queues.
 */
#ifndef SF_BASE_WORK_KEY_H
#define SF_BASE_WORK_KEY_H

/* Key of a branch: what a claim is made by. */
typedef struct SfBranchKey
{
	int64		execution_no;
	int64		branch_no;
} SfBranchKey;

/*
 * Numbers that no branch of a state has; a sequence gives those of branches, which are greater than ROOT.  ROOT,
 * TIMEOUT and STOP are those of rows of _sfflow.branch (store/branch/branch.h); SQL has them too, as @BRANCH_ROOT@
 * (sql/assemble.awk), and a constraint of the table lets no row have another one.  No row has the others: UNNUMBERED
 * is a branch in memory that has not been given a number, and comes behind those that have; a key with WHOLE_EXECUTION
 * names an execution as a whole.
 */
#define SF_BRANCH_ROOT		0
#define SF_BRANCH_TIMEOUT	(-1)
#define SF_BRANCH_STOP		(-2)
#define SF_WHOLE_EXECUTION	(-3)
#define SF_BRANCH_UNNUMBERED	PG_INT64_MAX

/* Where the number of a branch may stand: there is none */
#define SF_NO_BRANCH		PG_INT64_MIN

/* Where the number of an execution may stand: there is none */
#define SF_NO_EXECUTION		0

/* Where the number of the run of a Distributed Map may stand: there is none */
#define SF_NO_MAP_RUN		0

/* The number of a root in the text of a query, whose plan is to know it */
#define SF_BRANCH_ROOT_TEXT	CppAsString2(SF_BRANCH_ROOT)

/* The key of an execution as a whole. */
static inline SfBranchKey
sf_branch_key_of_execution(int64 execution_no)
{
	return (SfBranchKey) {execution_no, SF_WHOLE_EXECUTION};
}

/* Are two keys of the same branch? */
static inline bool
sf_branch_key_equals(SfBranchKey a, SfBranchKey b)
{
	return a.execution_no == b.execution_no && a.branch_no == b.branch_no;
}

/* A queue: what waits for its turn with one object of a feature, which may have a queue for each of some values */
typedef struct SfQueue
{
	int64		object_no;		/* the feature's number of it */
	int64		hash;			/* of the value */
} SfQueue;

/* No queue: no object has this number, and all queues come behind it */
#define SF_NO_QUEUE_OBJECT	0
#define SF_NO_QUEUE_HASH	0	/* a hash may be 0, too: the object tells */
#define SF_NO_QUEUE	((SfQueue) {SF_NO_QUEUE_OBJECT, SF_NO_QUEUE_HASH})

/* Are two queues the same? */
static inline bool
sf_queue_equals(SfQueue a, SfQueue b)
{
	return a.object_no == b.object_no && a.hash == b.hash;
}

/* Is it a queue, and not SF_NO_QUEUE? */
static inline bool
sf_queue_is_one(SfQueue queue)
{
	return queue.object_no != 0;
}

/* What a key of the ring is of */
typedef enum SfWorkKeyKind
{
	SF_WORK_KEY_BRANCH,			/* which is due */
	SF_WORK_KEY_QUEUE			/* of which branches may begin */
} SfWorkKeyKind;

/* What a key is of, by its kind */
typedef union SfWorkSubject
{
	SfBranchKey branch;
	SfQueue		queue;
} SfWorkSubject;

/* Key of what a worker comes to */
typedef struct SfWorkKey
{
	SfWorkKeyKind kind;
	SfWorkSubject of;
} SfWorkKey;

/* The key of a branch. */
static inline SfWorkKey
sf_work_key_of_branch(SfBranchKey branch)
{
	return (SfWorkKey) {.kind = SF_WORK_KEY_BRANCH,.of.branch = branch};
}

/* The key of a queue. */
static inline SfWorkKey
sf_work_key_of_queue(SfQueue queue)
{
	return (SfWorkKey) {.kind = SF_WORK_KEY_QUEUE,.of.queue = queue};
}

/* Are two keys of the same? */
static inline bool
sf_work_key_equals(SfWorkKey a, SfWorkKey b)
{
	if (a.kind != b.kind)
		return false;
	return a.kind == SF_WORK_KEY_BRANCH ? sf_branch_key_equals(a.of.branch, b.of.branch) :
		sf_queue_equals(a.of.queue, b.of.queue);
}

#endif							/* SF_BASE_WORK_KEY_H */
