/*
 * poison.pml
 *		Finding the step that crashes the server (docs/design.md, 4.6;
 *		src/worker/fault/poison.c).
 *
 * One branch crashes the server whenever it runs, the other ones are innocent.
 * Each worker notes a branch before it runs it and wipes the note at the end of
 * its turn.  After a crash the noted branches are suspects and run one at a
 * time, alone; only a crash while alone counts.  Being alone has a time limit,
 * after which the others go on and nothing counts any more.  Modelled besides:
 * kill -9 of any worker at any time, fewer times than max_crashes, late crashes
 * of the step, after that limit.
 */
#ifndef NB
#define NB		3				/* branches; the first one is the poison */
#endif
#ifndef KILLS
#define KILLS	1				/* crashes that no step causes */
#endif
#ifndef RELEASES
#define RELEASES	1			/* the limit doubles: it is not passed for ever */
#endif
#define NW			2
#define MAX_CRASHES	2
#define NONE		255
#define POISON		0

bool ended[NB], made_to_fail[NB];
byte lock[NB];					/* NONE, or the worker at it */

/* The file: it survives crashes */
byte note[NW];					/* the branch that a worker is at; NONE */
bool alone[NW];
bool suspect[NB], released[NB];
byte crashes[NB];				/* while alone */

/* Processes, gone with the server */
bool working[NW];				/* an ordinary worker is in a turn */
bool alone_runs;				/* the process for suspects is there */
byte epoch;						/* of the server: raised by each crash */
byte releases, total;
bool fin;

#define WAITS(b)		(suspect[b] && !released[b])
#define ANY_SUSPECT		(WAITS(0) || WAITS(1) || (NB > 2 && WAITS(NB - 1)))
#ifdef MUT_ALONE
#define MAY_WORK		true
#define NO_WORKER		true
#else
#define MAY_WORK		(!ANY_SUSPECT && !alone_runs)
#define NO_WORKER		(!working[0] && !working[1])
#endif

inline make_suspect(w)
{
	if
	:: note[w] != NONE ->
		suspect[note[w]] = true; released[note[w]] = false;
#ifdef MUT_COUNT
		crashes[note[w]]++;
#else
		crashes[note[w]] = crashes[note[w]] + alone[w];
#endif
		note[w] = NONE; alone[w] = false
	:: else
	fi
}

/* The server crashes: processes and locks are gone, notes become suspects. */
inline server_crash()
{
	make_suspect(0); make_suspect(1);
	lock[0] = NONE; lock[1] = NONE; lock[NB - 1] = NONE;
	working[0] = false; working[1] = false; alone_runs = false;
	epoch++; total++;
	assert(total <= KILLS + RELEASES + MAX_CRASHES + 1)
}

/* A step runs: the poison crashes, others end. */
inline run_step(b)
{
	if
	:: b == POISON && !made_to_fail[b] -> server_crash()
	:: else -> ended[b] = true; lock[b] = NONE
	fi
}

inline turn_end(w)
{
	note[w] = NONE;
#ifndef MUT_WIPE
	alone[w] = false;
#endif
	working[w] = false
}

proctype Worker(byte w)
{
	byte b, my_epoch;

end:
	do
	:: d_step {					/* claim and note */
		MAY_WORK && !working[w] && !(w == 0 && alone_runs) ->
		if
		:: !ended[0] && !made_to_fail[0] && lock[0] == NONE -> b = 0
		:: !ended[1] && lock[1] == NONE -> b = 1
		:: !ended[NB - 1] && lock[NB - 1] == NONE -> b = NB - 1
		:: else -> b = NONE
		fi;
		if
		:: b != NONE -> lock[b] = w; my_epoch = epoch; working[w] = true
#ifndef MUT_NOTE
			; note[w] = b
#endif
		:: else
		fi };
		if
		:: b == NONE -> skip
		:: b != NONE ->
			d_step {			/* the step, and its commit */
				if
				:: my_epoch == epoch -> run_step(b)
				:: else
				fi };
			d_step {			/* a run without a crash clears one that was released */
				if
				:: my_epoch == epoch ->
					if :: suspect[b] && released[b] -> suspect[b] = false; crashes[b] = 0 :: else fi;
					turn_end(w)
				:: else
				fi }
		fi
	od
}

/* The launcher starts one process for the suspects, once no other is left. */
proctype Suspects()
{
	byte b, my_epoch;

end:
	do
	:: d_step {
		ANY_SUSPECT && !alone_runs && NO_WORKER && !working[0] ->
		alone_runs = true; my_epoch = epoch; working[0] = true;	/* it has a slot, and its notes */
		b = (WAITS(0) -> 0 : (WAITS(1) -> 1 : NB - 1)) };
		d_step {
			if
			:: my_epoch == epoch && crashes[b] >= MAX_CRASHES ->
				made_to_fail[b] = true; ended[b] = true;
				assert(b == POISON)
			:: my_epoch == epoch && crashes[b] < MAX_CRASHES && !ended[b] && lock[b] == NONE ->
				lock[b] = 0;
				note[0] = b; alone[0] = true
			:: else
			fi };
		if						/* it may take longer than the others are to wait */
		:: d_step { my_epoch == epoch && releases < RELEASES && alone[0] ->
			releases++; released[b] = true;
#ifndef MUT_RELEASE
			alone[0] = false;
#endif
			working[0] = true; alone_runs = false }
		:: skip
		fi;
		d_step {
			if
			:: my_epoch == epoch && lock[b] == 0 && note[0] == b -> run_step(b)
			:: else
			fi };
		d_step {
			if
			:: my_epoch == epoch -> suspect[b] = false; crashes[b] = 0; alone_runs = false; turn_end(0)
			:: else
			fi }
	od
}

/*
 * kill -9 of a worker in the middle of its turn, or between two turns; while a
 * suspect is alone, fewer times than it takes to condemn it.
 */
proctype Killer()
{
	byte n = 0, alone_kills = 0;

	do
	:: d_step { n < KILLS && !fin && !alone_runs -> n++; server_crash() }
	:: d_step { n < KILLS && alone_runs && alone_kills < MAX_CRASHES - 1 ->
		n++; alone_kills++; server_crash() }
	:: break
	od
}

/* Blocks for ever, an invalid end state, when a branch never ends. */
proctype Monitor()
{
	d_step { ended[0] && ended[1] && ended[NB - 1] -> fin = true;
		assert(made_to_fail[POISON] && !made_to_fail[1] && !made_to_fail[NB - 1]) }
}

init
{
	atomic {
		lock[0] = NONE; lock[1] = NONE; lock[NB - 1] = NONE;
		note[0] = NONE; note[1] = NONE;
		run Worker(0); run Worker(1); run Suspects(); run Killer(); run Monitor()
	}
}

ltl done { <> fin }
