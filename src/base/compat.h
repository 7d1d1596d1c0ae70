/*
 * compat.h
 *		Version gate, and shims for what differs between PostgreSQL releases.
 *
 * Code above this header is written for one PostgreSQL; where releases differ,
 * the difference is bridged here and nowhere else.
 */
#ifndef SF_BASE_COMPAT_H
#define SF_BASE_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "sfflow needs PostgreSQL 15 or later"
#endif

/* EvalPlanQualInit() takes the result relations since 16 */
#if PG_VERSION_NUM >= 160000
#define SF_EPQ_EXTRA_ARG	, NIL
#else
#define SF_EPQ_EXTRA_ARG
#endif

#endif							/* SF_BASE_COMPAT_H */
