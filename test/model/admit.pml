/*
 * admit.pml
 *		Processes for tasks, shared between owners (src/worker/README.md).
 *
 * An owner may occupy all processes but one (CAP); of the owners that wait, the one
 * after the owner that came last is next.  One process, the keeper, advances
 * branches and never runs an owner's code.  Owner 0 has more tasks than processes,
 * which with HOSTILE never end; owner 1 has a new one whenever one has ended;
 * owner 2 has one execution: T1, a task, T3.
 *
 * Modelled: announced tasks that are left because their owner occupies as
 * many processes as it may, and that are looked for again when one of them ends.  A look
 * takes its time: first what each owner may have, then what there is, and then
 * whether the owner may still have it.  Two looks at once may find a task each
 * where there is room for one.
 */
#ifndef HOSTILE
#define HOSTILE	1
#endif
#ifndef ENDLESS
#define ENDLESS	1
#endif
#define NO		3				/* owners */
#define NPROCESSES	3
#ifdef MUT_CAP
#define CAP		NPROCESSES
#else
#define CAP		(NPROCESSES - 1)
#endif
#define TASKS	4				/* of owner 0: more than there are processes */
#define NONE	255

byte announced[NO];				/* tasks that wait for a process */
byte occupied[NO];					/* processes that an owner occupies */
bool due[NO], answered[NO];		/* for the keeper: T1, T3 */
byte ended;						/* tasks of owner 0 */
byte after;						/* the owner whose task was taken last */
byte advanced;					/* the owner that was advanced last */
bool wanted = true;				/* a look for announced tasks is asked for */
bool capped;					/* a task was left because of the cap */
bool released[NPROCESSES];		/* an owner released a process since this one's look */
byte looking;					/* processes that look for a task */
bool fin, all_ended;

/* With the mistake, others that look count as if they were occupied by an owner who occupies one. */
#ifdef MUT_SEARCHES
#define HAS_ROOM(o)		(occupied[o] == 0 || occupied[o] + looking < CAP)
#else
#define HAS_ROOM(o)		(occupied[o] < CAP)
#endif
#define MAY_TAKE(o)		(announced[o] > 0 && may[o])
#define IS_CAPPED(o)	(announced[o] > 0 && !may[o])

/* The next owner in turn, after one, that meets a condition. */
#ifdef MUT_TURNS
#define NEXT(cond, last)	(cond(0) -> 0 : (cond(1) -> 1 : (cond(2) -> 2 : NONE)))
#else
#define NEXT(cond, last) \
	(cond((last + 1) % NO) -> (last + 1) % NO : \
	 (cond((last + 2) % NO) -> (last + 2) % NO : (cond(last) -> last : NONE)))
#endif
#define TO_ADVANCE(o)	(due[o] || answered[o])

/* A branch of an owner goes on: T1, or T3, after which owner 1 begins again. */
inline advance(o)
{
	if
	:: answered[o] -> answered[o] = false;
		if
		:: o == 1 -> due[1] = true
		:: o == 2 -> fin = true
		:: else
		fi
	:: due[o] && !answered[o] -> due[o] = false; announced[o]++; wanted = true
	:: else
	fi
}

/* A process that runs tasks. */
proctype Process(byte s)
{
	byte o;
	bool may[NO];
	bool left;					/* the look has left a task because of the cap */

end_again:
	atomic {
		wanted ->
		wanted = false; released[s] = false;
		may[0] = HAS_ROOM(0); may[1] = HAS_ROOM(1); may[2] = HAS_ROOM(2);
		looking++
	};
	atomic {					/* what it takes is locked */
		left = IS_CAPPED(0) || IS_CAPPED(1) || IS_CAPPED(2);
		o = NEXT(MAY_TAKE, after);
		if
		:: o == NONE -> skip
		:: else -> announced[o]--
		fi
	};
	atomic {					/* an owner may have released a process, or occupied one, since the look */
		looking--;
		if
#ifndef MUT_RELEASES
		:: left && released[s] -> wanted = true
		:: left && !released[s] -> capped = true
#else
		:: left -> capped = true
#endif
		:: !left -> skip
		fi;
		if
		:: o == NONE -> skip
#ifndef MUT_ENTRY
		:: o != NONE && occupied[o] >= CAP -> announced[o]++; capped = true; o = NONE
		:: o != NONE && occupied[o] < CAP ->
#else
		:: o != NONE ->
#endif
			occupied[o]++; after = o; wanted = true; assert(occupied[o] <= CAP)
		fi;
		released[s] = false; left = false;
		may[0] = false; may[1] = false; may[2] = false
	};
	if
	:: o == NONE -> atomic { o = 0; goto end_again }
	:: else
	fi;
end_task:
	!(o == 0 && HOSTILE);		/* blocks for ever: the task never ends */
	atomic {
		occupied[o]--;
		released[0] = true; released[1] = true; released[2] = true;
		if
		:: o == 0 -> ended++; all_ended = (ended == TASKS)
		:: else -> answered[o] = true
		fi;
#ifndef MUT_CAPPED
		if :: capped -> capped = false; wanted = true :: else fi
#endif
	};
	goto end_again
}

/* It advances; an owner's code never runs here. */
proctype Keeper()
{
	byte o;

end_again:
#ifdef MUT_KEEPER
	if
	:: atomic { TO_ADVANCE(0) || TO_ADVANCE(1) || TO_ADVANCE(2) -> skip }
	:: atomic { announced[0] > 0 -> announced[0]--; occupied[0]++ };
end_task:	!HOSTILE; atomic { occupied[0]--; ended++; all_ended = (ended == TASKS) }; goto end_again
	fi;
#endif
	atomic {
		TO_ADVANCE(0) || TO_ADVANCE(1) || TO_ADVANCE(2) ->
		o = NEXT(TO_ADVANCE, advanced);
		advance(o); advanced = o
	};
	goto end_again
}

init
{
	atomic {
		announced[0] = TASKS; due[1] = ENDLESS; due[2] = true;
		run Process(0); run Process(1); run Process(2); run Keeper()
	}
}

/*
 * Under weak fairness: neither the greedy owner nor the endless one starves the third, and no task waits
 * for ever beside a process that its owner may occupy.
 */
ltl done { <> fin && (!ENDLESS || [] <> answered[1]) && (HOSTILE || <> all_ended) && <> (occupied[0] == CAP || all_ended) }
