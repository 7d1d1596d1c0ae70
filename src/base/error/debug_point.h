/*
 * debug_point.h
 *		Named points where a test can stop, fail or kill a backend, or have it
 *		make a mistake.
 *
 * Where the models in test/model have the same point, it has the same name
 * there.
 *
 * SF_DEBUG_POINT("slice_commit") costs one comparison unless a superuser has
 * set sfflow.debug_point, a comma separated list of
 *
 *		name:error			raise an error (name:error=53100: with that SQLSTATE)
 *		name:fatal			raise one that ends this process
 *		name:crash			kill -9 this process
 *		name:sleep			pause for a second (name:sleep=MS: that long)
 *		name:wait			pause while another session of the database holds
 *							pg_advisory_lock(hashtextextended('name', 0));
 *							it shows in pg_locks as not granted meanwhile
 *		name:mutate			make the mistake of this name, which a test has to
 *							notice: SF_DEBUG_MUTATION("name") is true.  They are
 *							listed in test/model/mutations.txt
 *		name:ms=MS			take this time for the one that is usual: SF_DEBUG_MS("name", usual)
 *							is MS.  So a test need not be faster than what it looks at
 *
 * Set it for the workers with ALTER DATABASE or ALTER SYSTEM.  Compiled with
 * SF_OMIT_DEBUG_POINTS (make COPT=-DSF_OMIT_DEBUG_POINTS) there are none.
 */
#ifndef SF_BASE_DEBUG_POINT_H
#define SF_BASE_DEBUG_POINT_H

/* Value of sfflow.debug_point; empty or NULL: no point is on */
extern char *sf_setting_debug_point;

#ifndef SF_OMIT_DEBUG_POINTS
#define SF_DEBUG_POINTS_ARE_ON \
	unlikely(sf_setting_debug_point != NULL && sf_setting_debug_point[0] != '\0')
#else
#define SF_DEBUG_POINTS_ARE_ON	false
#endif

#define SF_DEBUG_POINT(name) \
	do { \
		if (SF_DEBUG_POINTS_ARE_ON) \
			(void) sf_debug_point_reached(name, false); \
	} while (0)

/* The same for a point at which a cancel that comes meanwhile is not to be taken. */
#define SF_DEBUG_POINT_HELD(name) \
	do { \
		if (SF_DEBUG_POINTS_ARE_ON) \
		{ \
			HOLD_INTERRUPTS(); \
			(void) sf_debug_point_reached(name, false); \
			RESUME_INTERRUPTS(); \
		} \
	} while (0)

#define SF_DEBUG_MUTATION(name) \
	(SF_DEBUG_POINTS_ARE_ON && sf_debug_point_reached(name, true))

#define SF_DEBUG_MS(name, usual) \
	(SF_DEBUG_POINTS_ARE_ON ? sf_debug_point_ms(name, usual) : (usual))

extern bool sf_debug_point_reached(const char *name, bool mutation);
extern int	sf_debug_point_ms(const char *name, int usual);

#endif							/* SF_BASE_DEBUG_POINT_H */
