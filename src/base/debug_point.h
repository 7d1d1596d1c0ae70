/*
 * debug_point.h
 *		Named places where a test can stop, fail or kill a backend.
 *
 * SF_DEBUG_POINT("slice-before-commit") costs one comparison unless a
 * superuser has set sfflow.debug_point, a comma separated list of
 *
 *		name:error			raise an error (name:error=53100: of that SQLSTATE)
 *		name:fatal			raise one that ends this process
 *		name:crash			kill -9 this process
 *		name:sleep			pause for a second (name:sleep=MS: that long)
 *		name:wait			pause while another session of the database holds
 *							pg_advisory_lock(hashtextextended('name', 0));
 *							it shows in pg_locks as not granted meanwhile
 *
 * Set it for the workers with ALTER DATABASE or ALTER SYSTEM.
 */
#ifndef SF_BASE_DEBUG_POINT_H
#define SF_BASE_DEBUG_POINT_H

/* Value of sfflow.debug_point; empty or NULL: no point is on */
extern char *sf_setting_debug_point;

#define SF_DEBUG_POINT(name) \
	do { \
		if (unlikely(sf_setting_debug_point != NULL && \
					 sf_setting_debug_point[0] != '\0')) \
			sf_debug_point_reached(name); \
	} while (0)

/* Do what sfflow.debug_point says about this point, if anything. */
extern void sf_debug_point_reached(const char *name);

#endif							/* SF_BASE_DEBUG_POINT_H */
