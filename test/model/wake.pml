/*
 * wake.pml
 *		How workers learn of due branches (docs/design.md, 4.5;
 *		src/worker/session/wake.c, src/worker/shared_memory/{ring,shared}.c, src/worker/process/worker.c).
 *
 * All that is in shared memory is a hint: the ring of keys, next_timer, the
 * request to look (scan).  The rows decide.  Modelled: commits that make a
 * branch due, now or at a time; a ring that is too small; keys that stand there
 * twice; workers that sleep on their latch; the scan of the due index; workers
 * that end with keys in hand (FATAL: their exit says so); a session that locks a
 * branch for a while, which a worker passes by and comes to again; a server crash, which
 * makes shared memory anew; and, with POLL, keys that get lost, rows that ring
 * no bell (COMMIT PREPARED) and the poll that finds them.
 *
 * Without POLL nothing may be lost in a running server: what the poll would
 * find late is found at once.
 */
#ifndef NB
#define NB		2				/* branches; the last one is due at a time */
#endif
#ifndef POLL
#define POLL	0
#endif
#ifndef LOSSES
#define LOSSES	POLL			/* keys that get lost, rows without a bell */
#endif
#ifndef EXITS
#define EXITS	1				/* workers that end in the middle of a turn */
#endif
#ifndef CRASHES
#define CRASHES	0				/* of the server */
#endif
#ifndef HOLDS
#define HOLDS	0				/* a session locks branches */
#endif
#define NW		2
#define HOLDER	NW
#define NONE	255
#define ROOM	1				/* keys in the ring */

/* Rows */
bool committed[NB], ran[NB];
byte lock[NB];
bool time_has_come;				/* for the last branch */

/* Shared memory */
byte ring[NB];					/* how often a key stands there */
bool scan, next_timer;
bool skipped[NB];				/* a locked branch that was passed by */
bool idle[NW], latch[NW], die[NW];

bool fin;
byte losses;

#define LAST		(NB - 1)
#define COUNT		(ring[0] + ring[LAST])
#define IS_DUE(b)	(committed[b] && !ran[b] && (b != LAST || time_has_come))

/* Wake an idle worker; a worker that is not idle looks before it sleeps. */
inline wake()
{
	if
	:: idle[0] -> latch[0] = true
	:: idle[1] && !idle[0] -> latch[1] = true
	:: else
	fi
}

/* A key goes to the ring; where there is no room the tables will be looked at. */
inline push(b)
{
	if
	:: COUNT < ROOM -> ring[b]++
	:: else -> scan = true
	fi;
	wake()
}

/*
 * The commit callback; a bell may fail to ring, where there is a poll.  The code does this under the lock of
 * the database, which each turn excludes, too: so it is atomic.  The line for the server's log that
 * follows (failure_log) is not modelled: nothing waits for it.
 */
proctype Session(byte b)
{
	committed[b] = true;
	if
	:: d_step { b != LAST -> push(b) }
	:: d_step { b == LAST -> next_timer = true; latch[0] = idle[0]; latch[1] = idle[1] }
	:: d_step { losses < LOSSES -> losses++ }
	fi
}

proctype Worker(byte w)
{
	byte key = NONE;
	bool looking;

end_again:
	{
		d_step {				/* decide, under the lock of the shared area */
			key = NONE;
#ifndef MUT_LATCH
			latch[w] = false;
#endif
			looking = scan || (next_timer && time_has_come);
			scan = false;
			if :: next_timer && time_has_come -> next_timer = false :: else fi;
			if :: skipped[0] -> skipped[0] = false; push(0) :: else fi;
			if :: skipped[LAST] -> skipped[LAST] = false; push(LAST) :: else fi;
			if
			:: ring[0] > 0 -> ring[0]--; key = 0
			:: ring[LAST] > 0 && ring[0] == 0 -> ring[LAST]--; key = LAST
			:: else
			fi;
			idle[w] = !looking && key == NONE
		};
sleep:
		if
		:: idle[w] ->
#ifdef MUT_LATCH
			latch[w] = false;	/* reset after the look at what there is */
#endif
end_sleep:
			atomic {
				latch[w] || (next_timer && time_has_come) || skipped[0] || skipped[LAST] || (POLL && !fin) ->
				if :: latch[w] || (next_timer && time_has_come) || skipped[0] || skipped[LAST] -> skip
				:: else -> scan = true	/* the poll */
				fi;
				idle[w] = false };
			goto end_again
		:: else
		fi;
look:
		if
		:: d_step {				/* all that is due, and the next timer */
			looking ->
			if :: IS_DUE(0) && NB > 1 -> push(0) :: else fi;
			if :: IS_DUE(LAST) -> push(LAST)
			:: committed[LAST] && !time_has_come -> next_timer = true
			:: else
			fi;
			looking = false }
		:: else
		fi;
		if
		:: key == NONE -> goto end_again
		:: else
		fi;
claim:
		if
		:: atomic { lock[key] == NONE && IS_DUE(key) -> lock[key] = w }
#ifndef MUT_SKIP
		:: d_step { lock[key] != NONE && IS_DUE(key) -> skipped[key] = true }; goto end_again
#else
		:: lock[key] != NONE && IS_DUE(key) -> goto end_again
#endif
		:: !IS_DUE(key) -> goto end_again
		fi;
slice_commit:
		d_step { assert(!ran[key]); ran[key] = true; lock[key] = NONE };
		goto end_again
	} unless {
		d_step {				/* it ends: what it had taken on is for others */
			die[w] -> die[w] = false; idle[w] = false;
			if
			:: key != NONE -> lock[key] = (lock[key] == w -> NONE : lock[key])
			:: else
			fi;
#ifndef MUT_EXIT
			scan = true; wake();
#endif
			key = NONE; looking = false; latch[w] = false
		}
	};
	goto end_again
}

proctype Clock()
{
	time_has_come = true
}

#if HOLDS > 0
/* A session locks a branch, changes nothing and lets go. */
proctype Holder(byte b)
{
	if
	:: atomic { lock[b] == NONE && committed[b] && !ran[b] -> lock[b] = HOLDER };
		d_step { lock[b] = NONE }
	:: skip
	fi
}
#endif

/* Workers end in the middle of a turn, by FATAL, or between two. */
proctype Ender()
{
	byte n = 0;
	do
	:: n < EXITS && !die[0] -> die[0] = true; n++
	:: n < EXITS && !die[1] -> die[1] = true; n++
	:: break
	od
}

/* Keys get lost, or stand there twice. */
proctype Disorder()
{
	byte n = 0;
	do
	:: d_step { losses < LOSSES && ring[0] > 0 -> losses++; ring[0] = 0 }
	:: d_step { losses < LOSSES && ring[LAST] > 0 -> losses++; ring[LAST] = 0 }
	:: d_step { losses < LOSSES && next_timer -> losses++; next_timer = false }
	:: d_step { n < 1 && ring[0] == 1 -> n++; ring[0]++ }
	:: break
	od
}

#if CRASHES > 0
/* The server crashes: its shared memory is made anew, and the tables are looked at. */
proctype Crasher()
{
	if
	:: d_step {
		!fin ->
		ring[0] = 0; ring[LAST] = 0; next_timer = false; skipped[0] = false; skipped[LAST] = false;
#ifndef MUT_START
		scan = true;
#endif
		latch[0] = true; latch[1] = true }
	:: skip
	fi
}
#endif

/* Blocks for ever, an invalid end state, when a branch is never run. */
proctype Monitor()
{
	d_step { ran[0] && ran[LAST] -> fin = true }
}

init
{
	atomic {
		lock[0] = NONE; lock[LAST] = NONE;
		run Worker(0); run Worker(1); run Session(0); run Session(LAST);
		run Clock(); run Disorder(); run Ender(); run Monitor();
#if HOLDS > 0
		run Holder(0); run Holder(LAST);
#endif
#if CRASHES > 0
		run Crasher()
#endif
	}
}

ltl done { <> fin }
