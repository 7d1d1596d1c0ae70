/*
 * start_key.pml
 *		Starts of one key that run one at a time (mode fifo of the option start_key,
 *		src/feature/start_key/).
 *
 * A start locks the row of the key until it commits, sees whether something stands
 * in the line, and is due if not, else parked.  A worker that comes to one that is
 * due locks the row without waiting (else it comes again), and has it run if nothing
 * runs and nothing waits before it, else parks it.  A start under an old snapshot
 * is due always.  What ends has the first that
 * waits be due; if it does not get the lock without waiting, it notes its end, and a
 * look does so later.
 * Modelled: one key, NS starts, NWORK workers, aborts of starts and of slices.
 */
#ifndef NS
#define NS 3
#endif
#ifndef NWORK
#define NWORK 2
#endif
#define NONE 0
#define WAITS 1
#define RUNS 2
#define ENDED 3
#define OVER 4

/* committed rows; due: the branch is; claimed: a worker has it locked */
byte place[NS], rank[NS];
bool due[NS], claimed[NS];
bool locked;
byte last_rank, starting, claims;

/* The first that waits becomes due. */
inline settle()
{
	f = NS; j = 0;
	do
	:: j < NS -> if :: place[j] == WAITS && (f == NS || rank[j] < rank[f]) -> f = j :: else fi; j++
	:: else -> break
	od;
	if :: f < NS -> due[f] = true :: else fi;
	f = 0; j = 0
}

proctype Start(byte i)
{
	bool alone;
	byte j;
#ifndef MUT_START_LOCK
	atomic { !locked -> locked = true };
#endif
	d_step {
		alone = true; j = 0;
		do :: j < NS -> if :: place[j] >= WAITS && place[j] <= ENDED -> alone = false :: else fi; j++ :: else -> break od;
		j = 0
	};
	if
	:: skip
	:: alone = true								/* under an old snapshot a worker is to see */
	fi;
	if
	:: d_step { place[i] = WAITS; last_rank++; rank[i] = last_rank; due[i] = alone }
	:: skip										/* abort */
	fi;
	d_step {
#ifndef MUT_START_LOCK
		locked = false;
#endif
		starting--
	}
}

proctype Worker()
{
	byte i, j, f;
	bool free, mine;

end_again:
	atomic {
		if
		:: place[0] == WAITS && due[0] && !claimed[0] -> i = 0
		:: place[1] == WAITS && due[1] && !claimed[1] -> i = 1
		:: place[NS - 1] == WAITS && due[NS - 1] && !claimed[NS - 1] -> i = NS - 1
		:: place[0] == RUNS && !claimed[0] -> i = 0
		:: place[1] == RUNS && !claimed[1] -> i = 1
		:: place[NS - 1] == RUNS && !claimed[NS - 1] -> i = NS - 1
		fi;
		claimed[i] = true; claims++
	};
	/* lock the row of the key without waiting */
	atomic {
		mine = !locked;
#ifdef MUT_BEGIN_LOCK
		mine = mine && place[i] == RUNS;
#endif
		if :: mine -> locked = true :: else fi
	};
	if
	:: place[i] == RUNS ->
		if
		:: atomic { mine -> d_step { place[i] = OVER; settle() } }
#ifdef MUT_NOTE
		:: !mine -> place[i] = OVER
#else
		:: !mine -> place[i] = ENDED
#endif
		:: skip									/* the slice is rolled back */
		fi
#ifdef MUT_BEGIN_LOCK
	:: place[i] == WAITS ->
#else
	:: place[i] == WAITS && !mine -> skip		/* it comes again */
	:: place[i] == WAITS && mine ->
#endif
		d_step {
			free = true; j = 0;
			do
			:: j < NS ->
				if
				:: place[j] == RUNS -> free = false
#ifndef MUT_RANK
				:: place[j] == WAITS && rank[j] < rank[i] -> free = false
#endif
				:: else
				fi;
				j++
			:: else -> break
			od;
			j = 0
		};
		if
		:: free -> d_step {
			j = 0;
			do
			:: j < NS ->
				assert(place[j] != RUNS);
				assert(!(place[j] == WAITS && rank[j] < rank[i]));
				j++
			:: else -> break
			od;
			j = 0; place[i] = RUNS; due[i] = false }
		:: !free -> due[i] = false				/* parked */
		:: skip									/* the slice is rolled back */
		fi
	fi;
	d_step {
		if :: mine -> locked = false :: else fi;
		claimed[i] = false; claims--; mine = false; free = false; i = 0
	};
	goto end_again
}

/* Have the next one go on after an end that was noted. */
proctype Look()
{
	byte i, j, f;

end_again:
	atomic {
		if
		:: place[0] == ENDED && !locked -> i = 0
		:: place[1] == ENDED && !locked -> i = 1
		:: place[NS - 1] == ENDED && !locked -> i = NS - 1
		fi;
		locked = true
	};
	if
	:: d_step { place[i] = OVER; settle() }
	:: skip										/* abort */
	fi;
	locked = false;
	goto end_again
}

#define RESTS(i) (place[i] != RUNS && place[i] != ENDED && !(place[i] == WAITS && due[i]))

/* When nothing is to be done any more, nothing waits. */
proctype Check()
{
	atomic {
		(starting == 0 && claims == 0 && !locked && RESTS(0) && RESTS(1) && RESTS(NS - 1));
		assert(place[0] != WAITS && place[1] != WAITS && place[NS - 1] != WAITS)
	}
end_ok:
	skip
}

init
{
	byte i;
	atomic {
		starting = NS;
		i = 0; do :: i < NS -> run Start(i); i++ :: else -> break od;
		i = 0; do :: i < NWORK -> run Worker(); i++ :: else -> break od;
		run Look();
		run Check()
	}
}
