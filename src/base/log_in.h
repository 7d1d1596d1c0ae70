/*
 * log_in.h
 *		Whether a role could log in now.
 */
#ifndef SF_BASE_LOG_IN_H
#define SF_BASE_LOG_IN_H

extern bool sf_log_in_is_open(Oid role);

#endif							/* SF_BASE_LOG_IN_H */
