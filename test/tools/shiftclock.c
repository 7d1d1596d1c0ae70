/*
 * shiftclock.c
 *		A wall clock that a test sets while a server runs: to be preloaded into
 *		its processes (LD_PRELOAD).
 *
 * The first eight bytes of the file that SHIFTCLOCK names are the microseconds
 * by which the wall clock is ahead; the file is mapped, so that a change is
 * seen by every process at once.  The monotonic clock is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;

/* Map the file, once, before the program begins. */
__attribute__((constructor)) static void
map_shift(void)
{
	const char *path = getenv("SHIFTCLOCK");
	int			fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void	   *address;

	if (fd < 0)
		return;
	address = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (address != MAP_FAILED)
		shift = address;
}

/* The wall clock, as it is set. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
	static int	(*real) (clockid_t, struct timespec *);
	int64_t		us;
	int			rc;

	if (!real)
		*(void **) &real = dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(clock, now);
	if (rc != 0 || !shift ||
		(clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
		return rc;
	us = now->tv_nsec / 1000 + *shift % 1000000;
	now->tv_sec += *shift / 1000000 + (us < 0 ? -1 : us / 1000000);
	now->tv_nsec = (us < 0 ? us + 1000000 : us % 1000000) * 1000;
	return 0;
}

/* The same, as older calls ask for it. */
int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec t;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &t);
	now->tv_sec = t.tv_sec;
	now->tv_usec = t.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *now)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (now)
		*now = t.tv_sec;
	return t.tv_sec;
}
