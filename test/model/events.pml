/*
 * events.pml
 *		Events by key: an emitter and waits that meet, in either order
 *		(src/feature/event/event_by_key.h).
 *
 * An emitter inserts the event (fresh) and takes no lock.  A wait takes the lock
 * of the key shared, looks with the latest snapshot whether an event is there
 * (then its row is ripe), inserts its row, and gives the lock back at its end.
 * A look, in a transaction of its own, takes the lock alone, reads the fresh
 * events, then the waits, gives events to waits, and takes the marks "fresh" and
 * "ripe" away.  A hint may get lost; marks are rows, which the poll finds.
 * Modelled: one key, NE events (the first goes to one wait, the second to all),
 * NW waits, aborts, a time-out that has the branch of a wait locked and then commits
 * or not, with STOPS a transaction that stops both executions, which passes over branches
 * that are locked but waits for the rows of waits, looks that abort or crash.
 */
#ifndef NE
#define NE 2
#endif
#ifndef NW
#define NW 2
#endif
#ifndef STOPS
#define STOPS 0
#endif
#define MODE_ONE(e) (e == 0)
#define NL 2

/* committed rows */
bool ev[NE], fresh[NE], alive[NE];
bool wt[NW], ripe[NW];
bool held[NW], row[NW];				/* locked: the branch, the row of the wait */
bool got[NE * NW];					/* receipts */
byte gone[NW];						/* the wait ended in another way */
byte given[NE];
byte shared_locks; bool exclusive;
byte running;
#define R(e,w) got[(e) * NW + (w)]
#define COUNTS(e,w) (ev[e] && alive[e] && !R(e,w))

proctype Emitter(byte e)
{
	if
	:: d_step { ev[e] = true; fresh[e] = true; alive[e] = true }	/* commit */
	:: skip										/* abort */
	fi;
	running--
}

proctype Waiter(byte w)
{
	bool r;
	byte e;
#ifdef MUT_PROBE_BEFORE_LOCK
	d_step { r = false; e = 0; do :: e < NE -> if :: COUNTS(e,w) -> r = true :: else fi; e++ :: else -> break od };
#endif
#ifndef MUT_NO_SHARE
	atomic { !exclusive -> shared_locks++ };
#endif
#ifdef MUT_NO_PROBE
	r = false;
#endif
#if !defined(MUT_PROBE_BEFORE_LOCK) && !defined(MUT_NO_PROBE)
	d_step { r = false; e = 0; do :: e < NE -> if :: COUNTS(e,w) -> r = true :: else fi; e++ :: else -> break od };
#endif
	if
	:: d_step { wt[w] = true; ripe[w] = r }		/* commit, visible before the locks go */
	:: gone[w] = 1								/* abort */
	fi;
#ifndef MUT_NO_SHARE
	shared_locks--;
#endif
	running--
}

/* Lock the row of a wait, if it is there, to delete it. */
inline lock_row(w, mine)
{
	atomic {
		if
		:: wt[w] && !row[w] -> row[w] = true; mine = true
		:: !wt[w] -> skip
		fi
	}
}

/* The end of a stop. */
inline end_row(w, mine, deletes)
{
	if :: mine -> row[w] = false; if :: deletes -> wt[w] = false; ripe[w] = false; gone[w] = 1 :: else fi :: else fi
}

/* A time-out of a wait has its branch locked; or its execution, and another one, are stopped. It commits or not. */
proctype Timeout(byte w)
{
#if STOPS
	bool first, last;
#endif

	if
	:: atomic { wt[w] && !held[w] -> held[w] = true };
		if
		:: d_step { wt[w] = false; gone[w] = 1; held[w] = false }
		:: held[w] = false
		fi
#if STOPS
	:: lock_row(NW - 1, last);
		lock_row(0, first);
		if
		:: d_step { end_row(NW - 1, last, true); end_row(0, first, true) }
		:: d_step { end_row(NW - 1, last, false); end_row(0, first, false) }
		fi
#endif
	:: skip
	fi;
	running--
}

proctype Look()
{
	bool mine[NE], mined[NW], rows[NW], skipped;
	bool pg[NE * NW], dead[NE], unripe[NW];
	byte e, w;

end_again:
	atomic {		/* the poll, or a hint: something is marked */
#ifdef MUT_NO_LOCK
		(fresh[0] || fresh[NE - 1] || ripe[0] || ripe[NW - 1])
#else
		((fresh[0] || fresh[NE - 1] || ripe[0] || ripe[NW - 1]) && !exclusive && shared_locks == 0) -> exclusive = true
#endif
	};
	d_step {		/* which events are fresh */
		e = 0; skipped = false;
		do :: e < NE -> mine[e] = ev[e] && fresh[e]; dead[e] = false; e++ :: else -> break od;
		w = 0;
		do :: w < NW -> mined[w] = false; rows[w] = false; unripe[w] = false; e = 0;
			do :: e < NE -> pg[e * NW + w] = false; e++ :: else -> break od;
			w++
		:: else -> break od;
	};
	/* the waits, each locked or skipped; an event for each */
	w = 0;
	do
	:: w < NW ->
		atomic {
			if
			:: wt[w] && held[w] -> skipped = true
			:: wt[w] && !held[w] ->
				held[w] = true; mined[w] = true;
				e = 0;
				/* event_give: the row, too */
#ifdef MUT_WAIT_FOR_ROW
				!row[w];
#endif
				if
				:: row[w] -> skipped = true; e = NE + 1
				:: !row[w] && wt[w] -> row[w] = true; rows[w] = true
				:: !row[w] && !wt[w] -> e = NE + 1
				fi;
				do
				:: e > NE -> break
				:: e < NE && COUNTS(e,w) && !dead[e] ->
					pg[e * NW + w] = true;
					if :: MODE_ONE(e) -> dead[e] = true :: else fi;
					break
				:: e < NE && !(COUNTS(e,w) && !dead[e]) -> e++
				:: e == NE -> unripe[w] = true; break
				od
			:: !wt[w] -> skip
			fi
		};
		w++
	:: else -> break
	od;
	if
	:: d_step {		/* event_look: commit */
		w = 0;
		do
		:: w < NW ->
			e = 0;
			do
			:: e < NE ->
				if
				:: pg[e * NW + w] ->
					assert(!R(e,w)); assert(!MODE_ONE(e) || given[e] == 0);
					R(e,w) = true; given[e]++; wt[w] = false; ripe[w] = false
				:: else
				fi;
				e++
			:: else -> break
			od;
			if :: rows[w] -> row[w] = false :: else fi;
			if :: mined[w] -> held[w] = false; if :: unripe[w] -> ripe[w] = false :: else fi :: else fi;
			w++
		:: else -> break
		od;
		e = 0;
		do
		:: e < NE ->
			if :: dead[e] -> alive[e] = false; fresh[e] = false :: else fi;
#ifdef MUT_MARK_ALL
			if :: !skipped -> fresh[e] = false :: else fi;
#endif
#ifdef MUT_MARK_SKIPPED
			if :: mine[e] -> fresh[e] = false :: else fi;
#endif
			if :: mine[e] && !skipped -> fresh[e] = false :: else fi;
			e++
		:: else -> break
		od }
	:: d_step {		/* abort, or crash */
		w = 0;
		do :: w < NW -> if :: mined[w] -> held[w] = false :: else fi; if :: rows[w] -> row[w] = false :: else fi; w++
		:: else -> break od }
	fi;
#ifndef MUT_NO_LOCK
	exclusive = false;
#endif
	goto end_again
}

/* When nothing runs and nothing is marked, no wait stands beside an event that it may have. */
proctype Check()
{
	byte e, w;
	atomic {
		(running == 0 && !exclusive && shared_locks == 0 && !fresh[0] && !fresh[NE - 1] && !ripe[0] && !ripe[NW - 1] && !held[0] && !held[NW - 1]
			&& !row[0] && !row[NW - 1]);
		w = 0;
		do
		:: w < NW ->
			e = 0;
			do :: e < NE -> assert(!(wt[w] && COUNTS(e,w))); e++ :: else -> break od;
			w++
		:: else -> break
		od
	}
end_ok:
	skip
}

init
{
	byte i;
	atomic {
		running = NE + NW + 1;
		i = 0; do :: i < NE -> run Emitter(i); i++ :: else -> break od;
		i = 0; do :: i < NW -> run Waiter(i); i++ :: else -> break od;
		run Timeout(0);
		i = 0; do :: i < NL -> run Look(); i++ :: else -> break od;
		run Check()
	}
}
