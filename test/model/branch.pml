/*
 * branch.pml
 *		How a branch is claimed, run, stopped, timed out and redriven
 *		(docs/design.md, 4.1 to 4.5).
 *
 * Modelled: rows as committed; row locks, which end with their holder; the
 * lock of the execution's row; a commit as one d_step; a crash of a worker
 * before any statement (of both workers: of the server); a session killed
 * before it commits; a task that fails once and is retried; a task with a time
 * limit; the machine's deadline.  Not modelled here: siblings (join.pml), crash
 * suspects (poison.pml), slots (admit.pml), wake-ups (wake.pml: here a claim
 * looks at the rows).
 *
 * LIVE: a worker waits for the row of its announced task.  In fact it passes a
 * locked row over, and two workers that look at the row just when the other one
 * wants it could do so for ever, if chance never intervened; weak fairness does
 * not exclude that.
 *
 * Labels with the name of a debug point stand at the same place as that point
 * stands in the code.
 */
#ifndef NB
#define NB		1				/* branches: 1 or 2 */
#endif
#ifndef CRASHES
#define CRASHES	1
#endif
#ifndef STOPS
#define STOPS	1
#endif
#ifndef DEADLINES
#define DEADLINES	0			/* times that the machine's deadline passes */
#endif
#ifndef KILLS
#define KILLS	0				/* redrives whose session is killed */
#endif
#ifndef LIMITED
#define LIMITED	0				/* the first long task has a TimeoutSeconds */
#endif
#define NW		2				/* workers */
#define SHORT	1				/* short steps of a branch, and then */
#ifndef LONG
#define LONG	2				/* long ones: T1, T2, T3 */
#endif
#define NS		(SHORT + LONG)
#define NONE	255

/* What a branch row says */
#define DUE		0				/* to be run */
#define ANN		1				/* T1 committed: its task is announced */
#define OUT		2				/* T2 committed: its task has an outcome */
#define WAIT	3				/* waits for its retry timer */
#define ABO		4				/* aborted */
#define SUC		5				/* succeeded */

/* Committed rows */
byte st[2], pos[2];				/* pos: the step it is at */
byte gen[2];					/* raised by each announcement and redrive */
bool failed[2], retried[2];		/* failed: the outcome is an error */
byte eff[2 * NS];				/* how often a step's work was committed */
bool stopped;					/* the execution's row: not RUNNING */
byte redrives;					/* ... how often it was redriven */

/* Locks and slots: gone with their process */
byte lock[2];					/* NONE, or which process holds the branch's row */
byte exec = NONE;				/* the same of the execution's row */
bool in_step[NW], cancel[NW];	/* the slot: a task runs; it is to end */
bool armed[NW], rang[NW];		/* the task's time limit runs; is over */
bool crash[NW], fin;			/* fin: all branches succeeded */

#define OPERATOR	100
#define DEADLINE	101
#define ALL_DONE	(st[0] == SUC && st[1] == SUC)
#define E(b, s)		eff[(b) * NS + (s)]
#ifdef MUT_ANNOUNCED
#define looked_for(b)	stopped
#else
#define looked_for(b)	true
#endif
#define claimable(b)	(lock[b] == NONE && (st[b] == DUE || (st[b] == OUT && !stopped) || \
						 (st[b] == ANN && looked_for(b)) || (st[b] == WAIT && stopped)))
#ifdef MUT_CANCEL
#define CANCELLED(w)	true
#else
#define CANCELLED(w)	in_step[w]
#endif
#ifdef MUT_CLAIM
#define TAKE(b)		skip
#else
#define TAKE(b)		lock[b] = w
#endif

/* The work of a step is committed: never twice. */
inline commit_work(b, s)
{
	E(b, s)++; assert(E(b, s) <= 1)
}

/* A branch goes on: its step has left its work. */
inline go_on(b)
{
	assert(E(b, pos[b]) == 1);
	pos[b]++; retried[b] = false;
	st[b] = (pos[b] == NS -> SUC : DUE)
}

/* The step is over: requests and alarms that came too late are taken back. */
inline step_over()
{
	in_step[w] = false;
#ifndef MUT_CANCEL
	cancel[w] = false;
#endif
#ifndef MUT_TASK_TIMER
	rang[w] = false;
#endif
	armed[w] = false
}

/* Transaction of w ends, its row locks with it. */
inline let_go(b)
{
	lock[b] = (lock[b] == w -> NONE : lock[b]);
	exec = (exec == w -> NONE : exec)
}

/* A row of an execution that ends: what no process holds rests. */
inline quiesce(b)
{
	st[b] = (lock[b] == NONE && (st[b] == DUE || st[b] == ANN || st[b] == WAIT) -> ABO : st[b])
}

/* The execution ends as stopped or timed out; its tasks are asked to end. */
inline end_execution()
{
	stopped = true;
	quiesce(0); quiesce(1);
	cancel[0] = cancel[0] || CANCELLED(0);
	cancel[1] = cancel[1] || CANCELLED(1)
}

proctype Worker(byte w)
{
	byte b, g, s;				/* branch; announced: its generation, its step */
	bool seen_stopped;			/* the execution's row as the slice read it */
	byte seen_redrives;

end_again:						/* the only place to wait in for ever */
	{
		atomic {				/* read */
			claimable(0) || claimable(1) ->
			seen_stopped = stopped; seen_redrives = redrives };
claim:	if						/* FOR UPDATE SKIP LOCKED */
		:: d_step { claimable(0) -> b = 0; TAKE(0) }
		:: d_step { claimable(1) -> b = 1; TAKE(1) }
		:: d_step { !claimable(0) && !claimable(1) -> b = 0 }; goto end_again
		fi;
#ifndef MUT_REDRIVEN
claim_redriven:					/* it had ended when it was read, and runs again */
		if :: seen_stopped && !stopped -> goto roll_back :: else fi;
#endif
		if						/* what the slice does with it */
		:: d_step {				/* of an execution that has ended: it rests */
			seen_stopped && (st[b] == DUE || st[b] == ANN || st[b] == WAIT) ->
			st[b] = ABO; let_go(b) }; goto end_again
		:: d_step {				/* announced: the task is to be run next */
			!seen_stopped && st[b] == ANN -> g = gen[b]; s = pos[b]; let_go(b) };
			goto T2_claim
		:: !seen_stopped && (st[b] == DUE || st[b] == OUT) -> skip
		:: else -> goto roll_back
		fi;
slice_lock:						/* everything is worked out; now the shared row */
		if
		:: atomic { exec == NONE -> exec = w }
#ifndef MUT_WAIT
		:: exec != NONE && stopped -> goto roll_back	/* its holder wants our branch */
#endif
		fi;
#ifndef MUT_STATUS
slice_status:
		if :: stopped || redrives != seen_redrives -> goto roll_back :: else fi;
#endif
		if
		:: d_step {				/* a short step: its work, and that it ran */
			st[b] == DUE && pos[b] < SHORT ->
			assert(!stopped); s = pos[b]; commit_work(b, s); go_on(b); let_go(b) };
			goto end_again
		:: d_step {				/* T1_commit */
			st[b] == DUE && pos[b] >= SHORT ->
			st[b] = ANN; gen[b]++; g = gen[b]; s = pos[b]; let_go(b) };
			goto T2_claim
		:: d_step {				/* T3 */
			st[b] == OUT && !failed[b] -> go_on(b); let_go(b) };
			goto end_again
		:: d_step {				/* T3 of a failure: the retry's timer is the row */
			st[b] == OUT && failed[b] ->
			failed[b] = false; retried[b] = true; st[b] = WAIT; let_go(b) };
#ifdef MUT_TIMER
			atomic {			/* the timer is in the worker's memory */
				if
				:: st[b] == WAIT && lock[b] == NONE && !stopped -> st[b] = DUE
				:: st[b] != WAIT -> skip
				fi };
#endif
			goto end_again
		:: else -> goto roll_back
		fi;
roll_back:
		atomic { let_go(b); b = 0; g = 0; s = 0 };
		goto end_again;

T2_claim:						/* the slot first, then the look: a stop shows in one of them */
		in_step[w] = true;
		seen_stopped = stopped;
		if
		:: d_step { lock[b] == NONE && st[b] == ANN -> lock[b] = w }
		:: lock[b] == NONE && st[b] != ANN -> goto cancelled
#ifndef LIVE
		:: lock[b] != NONE -> goto cancelled
#endif
		fi;
#ifndef MUT_GEN
T2_generation:
		if :: gen[b] != g -> goto cancelled :: else fi;
#endif
		if :: seen_stopped -> goto cancelled :: else fi;
		armed[w] = LIMITED && s == SHORT && !retried[b];
step_begin:						/* the task: succeeds, fails once, runs out of time, is cancelled */
		if
		:: skip
		:: !retried[b] && !rang[w] -> goto failed_once
		:: rang[w] -> assert(LIMITED && s == SHORT); goto failed_once
		:: cancel[w] -> assert(stopped); goto cancelled
		fi;
#ifdef MUT_RELEASE
		lock[b] = NONE;
#endif
#ifdef MUT_APART
		d_step { commit_work(b, s) };
#endif
T2_commit:
		d_step {				/* work, outcome, lock in one */
#ifndef MUT_APART
			commit_work(b, s);
#endif
			st[b] = OUT; failed[b] = false; let_go(b)
		};
		goto over;
failed_once:					/* the work is rolled back, the outcome is an error */
		atomic { st[b] = OUT; failed[b] = true; let_go(b) };
		goto over;
cancelled:
		atomic { let_go(b) };
over:	atomic { step_over(); b = 0; g = 0; s = 0 };
		goto end_again
	} unless { crash[w] };
	d_step {					/* the process is gone, and its locks */
		crash[w] = false; in_step[w] = false; cancel[w] = false;
		armed[w] = false; rang[w] = false;
		lock[0] = (lock[0] == w -> NONE : lock[0]);
		lock[1] = (lock[1] == w -> NONE : lock[1]);
		exec = (exec == w -> NONE : exec);
		b = 0; g = 0; s = 0; seen_stopped = false; seen_redrives = 0
	};
	goto end_again
}

/* A row of a redrive: what has its outcome keeps it. */
inline make_due(b)
{
	if
#ifndef MUT_LOST
	:: st[b] == OUT && !failed[b] -> skip
#endif
	:: st[b] == SUC -> skip
	:: else -> st[b] = DUE; gen[b]++; failed[b] = false
	fi
}

/* sf_stop, at any time; sf_redrive, at any time after an end. */
proctype Operator()
{
	byte stops = 0, kills = 0;
end:
	do
	:: d_step {
		stops < STOPS && !stopped && !ALL_DONE && exec == NONE ->
		stops++; end_execution() }
	:: atomic { stopped && exec == NONE -> exec = OPERATOR };
		d_step { lock[0] == NONE -> lock[0] = OPERATOR };
		d_step { lock[1] == NONE -> lock[1] = OPERATOR };
		if
		:: d_step { make_due(0); make_due(1); stopped = false; redrives++;
			lock[0] = NONE; lock[1] = NONE; exec = NONE }
		:: d_step { kills < KILLS -> kills++;
			lock[0] = NONE; lock[1] = NONE; exec = NONE }
		fi
	od
}

#if DEADLINES > 0
/* The row of the machine's deadline is due: a worker claims it under the execution's lock. */
proctype Deadline()
{
	byte n = 0;
end:
	do
	:: n < DEADLINES && !stopped && !ALL_DONE -> n++;
		atomic { exec == NONE -> exec = DEADLINE };
		d_step {
			if
#ifndef MUT_DEADLINE
			:: stopped || ALL_DONE -> skip
#endif
			:: else -> assert(!ALL_DONE); end_execution()
			fi;
			exec = NONE
		}
	od
}
#endif

#if LIMITED
/* The alarm of a task's time limit. */
proctype Alarm(byte w)
{
end:	do :: d_step { armed[w] && !rang[w] -> rang[w] = true } od
}
#endif

/* A retry timer is due: the poll of the due index finds the row. */
proctype Timer(byte b)
{
#ifdef MUT_TIMER
	skip
#else
end:	do :: d_step { st[b] == WAIT && lock[b] == NONE && !stopped -> st[b] = DUE } od
#endif
}

/* kill -9 of a worker before any of its statements. */
proctype Crasher()
{
	byte n = 0;
	do
	:: n < CRASHES && !crash[0] -> crash[0] = true; n++
	:: n < CRASHES && !crash[1] -> crash[1] = true; n++
	:: break
	od
}

/* Blocks for ever, an invalid end state, when a branch never ends. */
proctype Monitor()
{
	d_step { ALL_DONE && !stopped -> fin = true }
}

init
{
	atomic {
		lock[0] = NONE; lock[1] = NONE; st[1] = (NB == 1 -> SUC : DUE);
		run Worker(0); run Worker(1); run Operator(); run Crasher(); run Monitor();
		run Timer(0); run Timer(1);
#if DEADLINES > 0
		run Deadline();
#endif
#if LIMITED
		run Alarm(0); run Alarm(1)
#endif
	}
}

ltl done { <> fin }
