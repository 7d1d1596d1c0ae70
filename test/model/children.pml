/*
 * children.pml
 *		A slice that runs the children it begins: those that end in it never have
 *		a row (docs/decisions/new-children.md; run_new_children in src/run/slice/slice.c).
 *
 * A join with two children, each with one task.  The slice that begins them runs
 * them in memory until its time is up, a task is long, or a child fails; it writes
 * the others.  Two workers, crashes, a stop, and a redrive of what was stopped or
 * failed.  Modelled: row locks, the execution's lock, the count in the join's row,
 * what a slice has in memory until its commit.
 */
#ifndef CRASHES
#define CRASHES	1
#endif
#define NW		2
#define NONE	255
#define OPERATOR	100

/* What the row of a child says */
#define ABSENT	0				/* there is none */
#define DUE		1				/* to run its task */
#define ANN		2				/* its long task is announced */
#define OUT		3				/* its task has an outcome */
#define DONE	4
#define FAILED	5

/* What the row of the join says */
#define NEW		0				/* to begin its children */
#define JOIN	1
#define JOINED	2

/* The execution */
#define RUNNING	0
#define ENDED	1				/* failed or stopped */

byte row[2], join = NEW, status = RUNNING, pending;
bool failing, join_due;
byte worked[2];					/* how often the task's work was committed */
bool redriven;					/* before it, the task of the first child may fail */
byte lock[2], join_lock = NONE, exec = NONE;
bool crash[NW], fin;

#define OVER(c)	(row[c] == DONE || row[c] == FAILED)

/* Work is committed: once, and only while the execution runs. */
inline commit_work(c)
{
	worked[c]++;
	assert(worked[c] <= 1);
	assert(status == RUNNING)
}

inline forget()
{
	lock[0] = (lock[0] == w -> NONE : lock[0]);
	lock[1] = (lock[1] == w -> NONE : lock[1]);
	join_lock = (join_lock == w -> NONE : join_lock);
	exec = (exec == w -> NONE : exec);
	c = 0; left = 0; mine[0] = ABSENT; mine[1] = ABSENT
}

/* A child that has a row ends: its join counts that in the same commit. */
inline count_end()
{
	pending--;
	join_due = join_due || pending == 0 || failing
}

proctype Worker(byte w)
{
	byte c = 0, left = 0;
	byte mine[2];				/* children as this slice has them in memory */

end_again:
	{
		if
		:: atomic { status == RUNNING && join == NEW && join_lock == NONE -> join_lock = w }; goto begin
		:: atomic { status == RUNNING && row[0] != ABSENT && !OVER(0) && lock[0] == NONE -> lock[0] = w; c = 0 }
		:: atomic { status == RUNNING && row[1] != ABSENT && !OVER(1) && lock[1] == NONE -> lock[1] = w; c = 1 }
		:: atomic { status == RUNNING && join == JOIN && join_due && join_lock == NONE -> join_lock = w }; goto join_end
		fi;

		/* a child that has a row; the work of its task is in this transaction */
		mine[c] = row[c];
		if
		:: mine[c] == DUE -> mine[c] = ANN
		:: mine[c] == DUE -> mine[c] = DONE
		:: mine[c] == DUE && c == 0 && !redriven -> mine[c] = FAILED
		:: mine[c] == ANN -> mine[c] = OUT
		:: mine[c] == OUT -> mine[c] = DONE
		fi;
child_lock:
		if
		:: atomic { exec == NONE -> exec = w }
		:: status != RUNNING -> goto roll_back
		fi;
		if :: status != RUNNING -> goto roll_back :: else fi;
		d_step {
			if
			:: (mine[c] == DONE && row[c] == DUE) || mine[c] == OUT -> commit_work(c)
			:: else
			fi;
			row[c] = mine[c];
			failing = failing || row[c] == FAILED;
			if :: OVER(c) -> count_end() :: else fi;
			forget()
		};
		goto end_again;

		/* the slice that begins the children */
begin:
		atomic { mine[0] = DUE; mine[1] = DUE; left = 2; c = 0 };
		do
		:: c == 2 -> break
		:: c < 2 -> break				/* its time is up */
		:: d_step { c < 2 -> mine[c] = DONE; left--; c++ }
		:: d_step { c < 2 -> mine[c] = ANN }; break
		:: d_step { c == 0 && !redriven -> mine[c] = FAILED; left-- }; break
		od;
begin_lock:
		if
		:: atomic { exec == NONE -> exec = w }
		:: status != RUNNING -> goto roll_back
		fi;
#ifndef MUT_STATUS
		if :: status != RUNNING -> goto roll_back :: else fi;
#endif
		d_step {
			if :: mine[0] == DONE -> commit_work(0) :: else fi;
			if :: mine[1] == DONE -> commit_work(1) :: else fi;
#ifdef MUT_JOIN
			if
			:: left < 2 && mine[0] != FAILED -> join = JOINED
			:: else ->
#else
			if
			:: left == 0 && mine[0] != FAILED -> join = JOINED
			:: else ->
#endif
				join = JOIN;
#ifdef MUT_COUNT
				pending = 2;
#else
				pending = left;
#endif
#ifdef MUT_WRITE
				row[0] = (c > 0 || mine[0] != DUE -> mine[0] : ABSENT);
				row[1] = (c > 1 || mine[1] != DUE -> mine[1] : ABSENT);
#else
				row[0] = mine[0]; row[1] = mine[1];
#endif
				failing = mine[0] == FAILED;
				join_due = failing
			fi;
			forget()
		};
		goto end_again;

		/* the join, claimed under the lock of its execution: with a failure the execution ends */
join_end:
		if
		:: atomic { exec == NONE -> exec = w }
		:: status != RUNNING -> goto roll_back
		fi;
		if :: status != RUNNING -> goto roll_back :: else fi;
		d_step {
			if
			:: failing -> status = ENDED
			:: !failing && pending == 0 ->
				join = JOINED;
				assert(OVER(0) && OVER(1))
			:: else
			fi;
			join_due = false;
			forget()
		};
		goto end_again;
roll_back:
		atomic { forget() };
		goto end_again
	} unless { crash[w] };
	d_step { crash[w] = false; forget() };
	goto end_again
}

/* sf_stop at any time, and sf_redrive of an execution that was stopped or has failed. */
proctype Operator()
{
	if
	:: atomic { exec == NONE && status == RUNNING && join != JOINED -> exec = OPERATOR };
		d_step { status = ENDED; exec = NONE }
	:: skip
	fi;
end:
	atomic { status == ENDED && exec == NONE -> exec = OPERATOR };
	atomic { join_lock == NONE && lock[0] == NONE && lock[1] == NONE -> join_lock = OPERATOR };
	d_step {
		redriven = true; failing = false; pending = 0;
		if
		:: join == JOIN ->
			if :: row[0] == FAILED || row[0] == ANN -> row[0] = DUE :: else fi;
			if :: row[1] == FAILED || row[1] == ANN -> row[1] = DUE :: else fi;
			pending = (row[0] == DONE -> 0 : 1) + (row[1] == DONE -> 0 : 1);
			join_due = pending == 0
		:: else
		fi;
		status = RUNNING; join_lock = NONE; exec = NONE
	}
}

proctype Crasher()
{
	byte n = 0;
	do
	:: n < CRASHES && !crash[0] -> crash[0] = true; n++
	:: n < CRASHES && !crash[1] -> crash[1] = true; n++
	:: break
	od
}

/* Blocks for ever, an invalid end state, when the join never ends. */
proctype Monitor()
{
	d_step { join == JOINED -> fin = true; assert(worked[0] == 1 && worked[1] == 1) }
}

init
{
	atomic {
		lock[0] = NONE; lock[1] = NONE;
		run Worker(0); run Worker(1); run Operator(); run Crasher(); run Monitor()
	}
}

ltl done { <> fin }
