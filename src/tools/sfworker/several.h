/*
 * several.h
 *		One worker for several databases.
 */
#ifndef SFW_SEVERAL_H
#define SFW_SEVERAL_H

extern int	sfw_several_work(int (*work) (void));

#endif							/* SFW_SEVERAL_H */
