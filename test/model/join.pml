/*
 * join.pml
 *		A Parallel state whose child fails: the others are aborted, or run on to
 *		the join (docs/design.md, 3.2 and 4.4; src/run/slice/abort.c).
 *
 * Two children, each with a long SQL task and then an activity's task, which a
 * session takes and answers.  The first child's SQL task fails until the
 * execution has been redriven.  Modelled: row locks, the execution's lock, the
 * parent's counters, cancel requests, sessions that hold a child while they
 * take its task, crashes, a redrive.
 */
#ifndef DRAIN
#define DRAIN	0				/* FailureMode: 0 ABORT, 1 DRAIN */
#endif
#ifndef CRASHES
#define CRASHES	1
#endif
#define NW		2
#define NONE	255
#define SESSION	50
#define OPERATOR	100

/* What a child's row says */
#define DUE		0				/* to enter its step */
#define ANN		1				/* its SQL task is announced */
#define OUT		2				/* its task has an outcome */
#define EXT		3				/* its activity's task waits for an answer */
#define DONE	4
#define FAILED	5
#define ABO		6
#define KEPT	7				/* aborted, but its task had committed: the outcome stays */

/* What the parent's row says */
#define JOIN	0
#define OVER	1				/* it failed, and with it the execution */
#define JOINED	2

byte st[2], pos[2], gen[2];		/* pos: 0 the SQL task, 1 the activity's */
bool failed[2];
bool recalled[2];				/* EXT, and due: to end, for the join has given up */
byte eff[4];
byte parent, pending = 2;
bool failing, join_due, held;	/* held: a session has a child that is not due */
bool redriven, answers;			/* answers: sessions do, before the redrive, too */

byte lock[2], exec = NONE;
byte at[NW];					/* the slot: which child's task runs; NONE: none */
bool cancel[NW], crash[NW], fin;

#define E(c, s)		eff[(c) * 2 + (s)]
#define GIVEN_UP	(parent != JOIN || (failing && !DRAINS))
#define ENDED(c)	(st[c] == DONE || st[c] == FAILED || st[c] == ABO || st[c] == KEPT)
#define READY		(pending == 0 || (failing && !DRAINS))
#ifdef MUT_DRAIN
#define DRAINS	0
#else
#define DRAINS	DRAIN
#endif
#define claimable(c)	(lock[c] == NONE && (st[c] == DUE || st[c] == ANN || st[c] == OUT || \
						 (st[c] == EXT && recalled[c])))

/* Work of a step is committed: once, and only while the join waits for it. */
inline commit_work(c, s)
{
	E(c, s)++;
	assert(E(c, s) <= 1);
	assert(parent == JOIN)
}

inline let_go(c)
{
	lock[c] = (lock[c] == w -> NONE : lock[c]);
	exec = (exec == w -> NONE : exec)
}

/* A child ends: its parent counts that, in the same commit. */
inline count_end()
{
#ifdef MUT_DELTA
	skip
#else
	pending--;
	if :: READY -> join_due = true :: else fi
#endif
}

/* A child is ended because the join has given up. */
inline end_child(c)
{
	assert(!DRAIN);
#ifdef MUT_KEPT
	st[c] = ABO;
#else
	st[c] = (st[c] == OUT && !failed[c] -> KEPT : ABO);
#endif
	recalled[c] = false; gen[c]++
}

/* The join looks at a child that it gives up: it is free, or in other hands. */
inline give_up(c)
{
	if
	:: ENDED(c) -> skip
	:: !ENDED(c) && lock[c] == NONE -> end_child(c); pending--
	:: !ENDED(c) && lock[c] != NONE ->
#ifdef MUT_EARLY
		pending--;
#endif
#ifndef MUT_NO_CANCEL
		cancel[0] = cancel[0] || at[0] == c;
		cancel[1] = cancel[1] || at[1] == c;
#endif
		held = held || (st[c] == EXT && !recalled[c])
	fi
}

proctype Worker(byte w)
{
	byte c, g;
	bool seen_up;				/* the join had given up when the slice looked */

end_again:
	{
		if
		:: atomic { claimable(0) -> c = 0; lock[0] = w }
		:: atomic { claimable(1) -> c = 1; lock[1] = w }
		:: join_due && parent == JOIN -> goto join
		fi;
		seen_up = GIVEN_UP;
		if
		:: atomic { st[c] == ANN && !seen_up -> g = gen[c]; let_go(c) }; goto T2_claim
		:: else
		fi;
slice_lock:
		if
		:: atomic { exec == NONE -> exec = w }
		:: exec != NONE && parent != JOIN -> goto roll_back
		fi;
		if
		:: parent != JOIN -> goto roll_back
		:: else
		fi;
		if						/* one commit each */
		:: d_step {				/* the join above has given up */
			seen_up -> end_child(c); count_end(); let_go(c) }
		:: d_step {				/* T1 */
			!seen_up && st[c] == DUE && pos[c] == 0 ->
			st[c] = ANN; gen[c]++; let_go(c) }
		:: d_step {				/* handed out: it rests, unless the join has given up meanwhile */
			!seen_up && st[c] == DUE && pos[c] == 1 ->
			st[c] = EXT;
#ifndef MUT_RECALL
			recalled[c] = GIVEN_UP;
#endif
			let_go(c) }
		:: d_step {				/* T3 */
			!seen_up && st[c] == OUT && !failed[c] ->
			pos[c]++;
			if :: pos[c] == 2 -> st[c] = DONE; count_end() :: else -> st[c] = DUE fi;
			let_go(c) }
		:: d_step {				/* T3 of a failure */
			!seen_up && st[c] == OUT && failed[c] ->
			st[c] = FAILED; failing = true; count_end(); let_go(c) }
		:: d_step { else -> let_go(c) }
		fi;
#ifdef MUT_DELTA
		d_step {				/* the count is a transaction of its own */
			if
			:: ENDED(c) && parent == JOIN -> pending--;
				if :: READY -> join_due = true :: else fi
			:: else
			fi };
#endif
		goto end_again;

T2_claim:
		at[w] = c;
		if
		:: atomic { lock[c] == NONE && st[c] == ANN && gen[c] == g -> lock[c] = w }
		:: lock[c] == NONE && (st[c] != ANN || gen[c] != g) -> goto cancelled
#ifndef LIVE						/* see branch.pml */
		:: lock[c] != NONE -> goto cancelled
#else
		:: lock[c] == 1 - w && at[1 - w] == c -> goto cancelled	/* it runs there */
#endif
		fi;
		if :: GIVEN_UP -> goto cancelled :: else fi;
step_begin:						/* it fails, succeeds, or never ends by itself */
		if
		:: atomic { c == 0 && !redriven -> st[c] = OUT; failed[c] = true; let_go(c) };
			goto over
		:: c == 1 || redriven -> skip
		:: c == 1 && !redriven && !DRAIN -> cancel[w]; goto cancelled
		:: cancel[w] -> goto cancelled
		fi;
T2_commit:
		d_step { commit_work(c, 0); st[c] = OUT; failed[c] = false; let_go(c) };
		goto over;
cancelled:
		atomic { let_go(c) };
over:	atomic { at[w] = NONE; cancel[w] = false; g = 0 };
		goto end_again;

join:							/* claimed under the lock of its execution */
		if
		:: atomic { exec == NONE -> exec = w }
		:: exec != NONE && parent != JOIN -> goto roll_back
		fi;
		d_step {
			if
			:: parent != JOIN || !join_due -> skip
			:: else ->
				join_due = false; held = false;
				if
				:: pending > 0 && failing && !DRAINS -> give_up(0); give_up(1)
				:: else
				fi;
				if
				:: pending == 0 ->
#ifndef MUT_EARLY
					assert(ENDED(0) && ENDED(1));
#endif
					parent = (failing -> OVER : JOINED)
				:: else
				fi
			fi;
			exec = NONE
		};
		goto end_again;
roll_back:
		atomic { let_go(c); c = 0 };
		goto end_again
	} unless { crash[w] };
	d_step {
		crash[w] = false; cancel[w] = false; at[w] = NONE;
		lock[0] = (lock[0] == w -> NONE : lock[0]);
		lock[1] = (lock[1] == w -> NONE : lock[1]);
		exec = (exec == w -> NONE : exec);
		c = 0; g = 0; seen_up = false
	};
	goto end_again
}

/* While a session has a child that is not due, the join looks again after a time. */
proctype LookAgain()
{
#ifdef MUT_HELD
	skip
#else
end:	do :: d_step { held && !join_due && parent == JOIN -> join_due = true } od
#endif
}

/* A session takes a child's task (COMMIT, or it is killed), later answers it. */
proctype Session(byte c)
{
	byte n = 0;
end:
	do
	:: d_step { lock[c] == NONE && st[c] == EXT && n < 2 -> lock[c] = SESSION; n++ };
		d_step { lock[c] = NONE }
	:: d_step { lock[c] == NONE && st[c] == EXT && (answers || redriven) -> lock[c] = SESSION };
		d_step { commit_work(c, 1); st[c] = OUT; failed[c] = false; recalled[c] = false; lock[c] = NONE }
	od
}

inline revive(c)
{
	if
	:: st[c] == DONE -> skip
	:: st[c] == KEPT -> st[c] = OUT; pending++
	:: st[c] == OUT && !failed[c] -> pending++
	:: else -> st[c] = DUE; gen[c]++; failed[c] = false; recalled[c] = false; pending++
	fi
}

/* sf_redrive, once the execution has failed. */
proctype Operator()
{
	atomic { parent == OVER && exec == NONE -> exec = OPERATOR };
	d_step { lock[0] == NONE -> lock[0] = OPERATOR };
	d_step { lock[1] == NONE -> lock[1] = OPERATOR };
	d_step {
		pending = 0; failing = false; held = false;
		revive(0); revive(1);
		parent = JOIN; redriven = true; join_due = (pending == 0);
		lock[0] = NONE; lock[1] = NONE; exec = NONE
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
	d_step { parent == JOINED -> fin = true; assert(E(0, 0) == 1 && E(0, 1) == 1 && E(1, 0) == 1 && E(1, 1) == 1) }
}

init
{
	atomic {
		if :: answers = true :: !DRAIN -> answers = false fi;
		lock[0] = NONE; lock[1] = NONE; at[0] = NONE; at[1] = NONE;
		run Worker(0); run Worker(1); run Operator(); run Crasher(); run Monitor();
		run LookAgain(); run Session(0); run Session(1)
	}
}

ltl done { <> fin }
