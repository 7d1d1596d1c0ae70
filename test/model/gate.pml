/*
 * gate.pml
 *		Slots of limits, where executions are moved between states with and without limits
 *		(src/run/gate/gate_*.c, src/run/execution/migrate.c).
 *
 * A branch takes a slot of its state's limit before it begins the state, or waits in the
 * limit's queue.  A move (sf_migrate) puts a branch that is inside of a state, or waits before
 * one, into another state.  Limit 0, of state 0, is there from the beginning; limit 1, of state
 * 1, is set at some time; state 2 has no limit.  Each limit has MAX slots; what runs already when
 * it comes under a limit has one with a greater number if none is free (highest).
 *
 * A slot that a transaction has locked, and a row that it has inserted, are seen by all others at
 * once; what it writes otherwise, and the end of a row, are seen at its commit.
 */
#ifndef MOVES
#define MOVES	2
#endif
#define NB		3				/* branches */
#define MAX		1
#define NOTHING	255

mtype = { before, waits, inside, ended };

mtype phase[NB];
byte state[NB];
bool due[NB];
bool locked[NB];				/* its row, by a transaction */
byte queue[NB];					/* limit that it waits for */
byte woken[NB];					/* limit whose queue has had it go on */
byte row[6];					/* limit * NB + number: 1 + the branch that has the slot */
byte highest[2];				/* numbers that may be in use */
bool exists[2], counted[2];
bool kept;						/* a move has locked the row of limit 1, which is not counted: so the count waits for it */
byte open;						/* transactions that began without limit 1: a bit per branch */

/* The limit of a state, for those who know of limit 1 */
#define LIMIT(s, knows)	((s) == 0 -> 0 : ((s) == 1 && (knows) -> 1 : NOTHING))
#define HAS(l, b)		(row[(l) * NB] == (b) + 1 || row[(l) * NB + 1] == (b) + 1 || row[(l) * NB + 2] == (b) + 1)
#define TAKEN(l)		((row[(l) * NB] > 0) + (row[(l) * NB + 1] > 0) + (row[(l) * NB + 2] > 0))
/* while numbers above the limit may be in use, all are counted */
#define ROOM(l)			(row[(l) * NB] == 0 && (highest[l] == MAX || TAKEN(l) < MAX))
#define RUNS(l, b)		((phase[b] == inside && state[b] == (l)) || (phase[b] != inside && HAS(l, b)))
#define RUNNING(l)		(RUNS(l, 0) + RUNS(l, 1) + RUNS(l, 2))

/* What sf_check() looks for, of what is committed. */
#define IS_RIGHT(b) \
	((phase[b] != inside || LIMIT(state[b], exists[1]) == NOTHING || !counted[LIMIT(state[b], exists[1])] || \
	  HAS(LIMIT(state[b], exists[1]), b)) && \
	 (phase[b] != inside || locked[b] || \
	  ((state[b] == 0 || !HAS(0, b)) && (state[b] == 1 || !counted[1] || !HAS(1, b)))) && \
	 (phase[b] != waits || due[b] || locked[b] || queue[b] == LIMIT(state[b], exists[1])) && \
	 (phase[b] != ended || (!HAS(0, b) && !HAS(1, b))))
/* greater numbers are in use only if that is noted */
#define NONE_ABOVE(l)	(row[(l) * NB + 1] == 0 && row[(l) * NB + 2] == 0)
#define IS_NOTED(l)		(highest[l] == NB || NONE_ABOVE(l))
#define CHECK()			assert(IS_RIGHT(0) && IS_RIGHT(1) && IS_RIGHT(2) && IS_NOTED(0) && IS_NOTED(1))

/* A slot is free: what comes first in the queue looks. */
inline ring(l)
{
	if
	:: phase[0] == waits && !due[0] && !locked[0] && queue[0] == l -> due[0] = true; woken[0] = l
	:: phase[1] == waits && !due[1] && !locked[1] && queue[1] == l -> due[1] = true; woken[1] = l
	:: phase[2] == waits && !due[2] && !locked[2] && queue[2] == l -> due[2] = true; woken[2] = l
	:: else
	fi
}

/* Delete the slot that a branch has of a limit, and tell the queue. */
inline give(l, b)
{
	if
	:: row[(l) * NB] == b + 1 -> row[(l) * NB] = 0; ring(l)
	:: row[(l) * NB + 1] == b + 1 -> row[(l) * NB + 1] = 0; ring(l)
	:: row[(l) * NB + 2] == b + 1 -> row[(l) * NB + 2] = 0; ring(l)
	:: else
	fi
}

/* Give a branch that runs a slot: a free one of those that the limit allows, else one above. */
inline give_slot(l, b)
{
	if
	:: HAS(l, b)
	:: else ->
		if
		:: row[(l) * NB] == 0 -> row[(l) * NB] = b + 1
		:: row[(l) * NB] != 0 && row[(l) * NB + 1] == 0 -> row[(l) * NB + 1] = b + 1
		:: else -> row[(l) * NB + 2] = b + 1
		fi;
#ifndef MUT_HIGHEST
		if
		:: row[(l) * NB] != b + 1 -> highest[l] = NB
		:: else
		fi
#endif
	fi
}

/* Give slots of limit 1 to what is seen to run. */
inline give_all()
{
	if :: phase[0] == inside && state[0] == 1 -> give_slot(1, 0) :: else fi;
	if :: phase[1] == inside && state[1] == 1 -> give_slot(1, 1) :: else fi;
	if :: phase[2] == inside && state[2] == 1 -> give_slot(1, 2) :: else fi
}

/* Once all that began without limit 1 is over: give back what a move out of it has not seen. */
inline recount()
{
	give_all();
	if :: phase[0] == inside && !locked[0] && state[0] != 1 -> give(1, 0) :: else fi;
	if :: phase[1] == inside && !locked[1] && state[1] != 1 -> give(1, 1) :: else fi;
	if :: phase[2] == inside && !locked[2] && state[2] != 1 -> give(1, 2) :: else fi
}

inline commit(b)
{
	locked[b] = false;
	open = open & ~(1 << b)
}

/* A branch comes to its state, is inside of it, and leaves it. */
proctype Branch(byte b)
{
	byte l;

again:
	atomic { due[b] && !locked[b] -> locked[b] = true; due[b] = false };
	atomic {					/* the gate: changes of limits are taken in */
		l = LIMIT(state[b], exists[1]);
		if
		:: l == NOTHING -> phase[b] = before; queue[b] = NOTHING
		:: l != NOTHING && ROOM(l) ->
			assert(!counted[l] || RUNNING(l) < MAX);
			row[l * NB] = b + 1; phase[b] = before; queue[b] = NOTHING
		:: else -> phase[b] = waits; queue[b] = l
		fi;
		if						/* its turn was for another limit: the next one has it */
		:: woken[b] != NOTHING && woken[b] != l -> ring(woken[b])
		:: else
		fi;
		woken[b] = NOTHING;
		if
		:: phase[b] == waits -> commit(b); CHECK(); goto again
		:: else
		fi
	};
	atomic { phase[b] = inside; commit(b); CHECK() };
	atomic { !locked[b] -> locked[b] = true };
	atomic { phase[b] = ended; commit(b); give(0, b); give(1, b); CHECK() }
}

/* Executions are moved. */
proctype Mover()
{
	byte b, s, l, moves;
	bool had0, had1;			/* slots that it gives back */

end_again:
	atomic {
		if
		:: moves < MOVES && !locked[0] && phase[0] != ended -> b = 0
		:: moves < MOVES && !locked[1] && phase[1] != ended -> b = 1
		:: moves < MOVES && !locked[2] && phase[2] != ended -> b = 2
		fi;
		moves++;
		if :: s = 0 :: s = 1 :: s = 2 fi;
		locked[b] = true;
#ifndef MUT_COUNT
		kept = exists[1] && !counted[1];
#endif
		l = LIMIT(s, exists[1]);
		had0 = phase[b] == inside && l != 0 && HAS(0, b);
		had1 = phase[b] == inside && l != 1 && HAS(1, b);
#ifndef MUT_SLOT
		if
		:: phase[b] == inside && l != NOTHING -> give_slot(l, b)
		:: else
		fi
#endif
	};
	atomic {
		state[b] = s;
		commit(b);
#ifndef MUT_GIVE
		if :: had0 -> give(0, b) :: else fi;
		if :: had1 -> give(1, b) :: else fi;
#endif
#ifndef MUT_RECALL
		if
		:: phase[b] == waits -> due[b] = true
		:: else
		fi;
#endif
		kept = false;
		b = 0; s = 0; l = 0; had0 = false; had1 = false;
		CHECK()
	};
	goto end_again
}

/*
 * A second session sets limit 1, too, and had not seen the first one's: it waits for that, and notes
 * that greater numbers may be in use.  Then a look notes that none is any more.
 */
proctype Lowerer()
{
end_set:
	atomic {
		exists[1] ->
#ifdef MUT_AGAIN
		highest[1] = MAX;
#else
		highest[1] = NB;
#endif
		CHECK()
	};
end_look:
	atomic { highest[1] == NB && NONE_ABOVE(1) ->
#ifdef MUT_LOWER
		skip };
	atomic {
#endif
		highest[1] = MAX; CHECK() }
}

/* Limit 1 is set; later looks give slots to what began without it. */
proctype Setter()
{
	atomic {
		exists[1] = true;
		open = (locked[0] -> 1 : 0) + (locked[1] -> 2 : 0) + (locked[2] -> 4 : 0);
		give_all();
		CHECK()
	};
#ifndef MUT_LATE
#ifndef MUT_RECOUNT
	atomic { open == 0 && !kept -> recount(); counted[1] = true; CHECK() }
#else
	atomic { open == 0 && !kept -> give_all(); counted[1] = true; CHECK() }
#endif
#else
	atomic { counted[1] = true; CHECK() }
#endif
}

init
{
	atomic {
		byte b;

		for (b : 0 .. NB - 1) {
			phase[b] = before; due[b] = true; queue[b] = NOTHING; woken[b] = NOTHING
		}
		exists[0] = true; counted[0] = true;
		highest[0] = MAX; highest[1] = MAX;
		run Branch(0); run Branch(1); run Branch(2); run Mover(); run Setter(); run Lowerer()
	}
}

/* Under weak fairness all come to their ends. */
ltl done { <> (phase[0] == ended && phase[1] == ended && phase[2] == ended) }
