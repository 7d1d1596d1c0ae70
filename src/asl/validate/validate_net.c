/*
 * validate_net.c
 *		Checks of the jobs of a JobNet: their fields, and the net that After makes of
 *		them.  The names in After exist; the jobs do not wait for each other in a circle;
 *		each of them can run.
 *
 * Jobs are numbered in the order of the text here.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "asl/validate/validate.h"
#include "base/name/name.h"

/* Links that are followed in search of jobs that can never run; more are not looked at */
#define LINKS_MAX	10000000

/* Jobs of a circle that an error names */
#define CIRCLE_MAX	20

/* --- fields --- */

static const struct
{
	const char *name;
	int			ends;
}			end_words[] =
{
	{"success", SF_NET_JOB_END_SUCCESS},
	{"failure", SF_NET_JOB_END_FAILURE},
	{"skip", SF_NET_JOB_END_SKIP},
	{"end", SF_NET_JOB_END_ANY},
};

/* Find the ends that a word of On stands for; 0: it is no such word. */
static int
find_ends(const SfTreeNode *word)
{
	for (size_t i = 0; word->kind == SF_TREE_STRING && i < lengthof(end_words); i++)
	{
		if (strcmp(end_words[i].name, word->string) == 0)
			return end_words[i].ends;
	}
	return 0;
}

/* On: which ends of the job before are waited for. */
void
sf_validate_ends(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	if (value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value cannot be empty");
	SF_TREE_FOREACH(word, value)
	{
		if (find_ends(word) == 0)
			sf_validate_error(validator, word, SF_CODE_SCHEMA,
							  "Value should be one of the following: [success, failure, skip, end]");
	}
}

/* After: names of jobs, or objects with a name and On. */
void
sf_validate_after(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	SF_TREE_FOREACH(link, value)
	{
		if (link->kind == SF_TREE_OBJECT)
			sf_validate_object(validator, link, SF_SHAPE_AFTER, 0);
		else if (link->kind != SF_TREE_STRING)
			sf_validate_error(validator, link, SF_CODE_SCHEMA,
							  "Expected value of type [STRING, OBJECT]");
	}
}

/* Condition of a job: a rule as of a Choice state, or an expression of JSONata. */
void
sf_validate_job_condition(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (validator->language == SF_QL_JSONATA)
		sf_validate_condition(validator, value, field);
	else
		sf_validate_rule(validator, value, field);
}

/* Check a job, which is a state if it has a Type, else a flow of states. */
static void
check_job(SfValidator *validator, const SfTreeNode *job)
{
	SfQueryLanguage saved = validator->language;

	if (job->kind != SF_TREE_OBJECT || sf_tree_member(job, "Type") != NULL ||
		(sf_tree_member(job, "States") == NULL && sf_tree_member(job, "StartAt") == NULL))
	{
		const char *type = sf_tree_member_string(job, "Type");

		if (type != NULL && strcmp(type, "Choice") == 0)
			sf_validate_error(validator, sf_tree_member(job, "Type"), SF_CODE_SCHEMA,
							  "A job cannot be a Choice state, which needs states to go on to");
		else
			sf_validate_state(validator, job, SF_IN_JOB);
		return;
	}
	sf_validate_state_name(validator, job);
	validator->language = validator->machine_language;
	sf_validate_object(validator, job, SF_SHAPE_JOB_FLOW, 0);
	validator->language = saved;
}

/* Jobs: at least one; the net that they make is checked later. */
void
sf_validate_jobs(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_OBJECT))
		return;
	if (value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value cannot be empty");
	validator->nets = lappend(validator->nets, (void *) value);
	SF_TREE_FOREACH(job, value)
		check_job(validator, job);
}

/* --- links, for the compiler too --- */

/* The node that names the job which an element of After waits for; NULL: none does. */
const SfTreeNode *
sf_asl_link_net_job(const SfTreeNode *link)
{
	const SfTreeNode *job = link->kind == SF_TREE_OBJECT ? sf_tree_member(link, "Job") : link;

	return job != NULL && job->kind == SF_TREE_STRING ? job : NULL;
}

/* The ends of that job which an element of After needs; without On its success. */
int
sf_asl_link_ends(const SfTreeNode *link)
{
	const SfTreeNode *on = sf_tree_member(link, "On");
	int			ends = 0;

	if (on == NULL || on->kind != SF_TREE_ARRAY)
		return SF_NET_JOB_END_SUCCESS;
	SF_TREE_FOREACH(word, on)
		ends |= find_ends(word);
	return ends != 0 ? ends : SF_NET_JOB_END_ANY; /* reported already */
}

/* --- the net --- */

/* A job while its net is checked */
typedef struct Job
{
	const SfTreeNode *node;
	const SfTreeNode *after;	/* NULL: none */
	int			nlinks;
	SfNetJobLink *links;		/* to known jobs */
	enum
	{
		UNSEEN, ON_WAY, DONE
	}			seen;
	int			next;			/* ON_WAY: the link to follow next */
	int			needed;			/* scratch: ends that the job at hand needs of it */
	int			stamp;			/* ... and for which job that was noted */
	bool		picky;			/* it, or one that has to run for it, does not only
								 * need successes */
} Job;

typedef struct Net
{
	SfValidator *check;
	int			njobs;
	Job		   *jobs;
	SfTreeNode **sorted;
	int		   *way;			/* jobs ON_WAY; then scratch */
	int			nway;
	int		   *order;			/* jobs, each after those that it waits for */
	int			norder;
	bool		has_cycle;
	int64		nfollowed;
} Net;

/* Report a name in After that no job has. */
static void
report_unknown(Net *net, const SfTreeNode *name)
{
	SfClosest	closest = sf_closest_begin(name->string);

	for (int i = 0; i < net->njobs; i++)
		sf_closest_offer(&closest, net->sorted[i]->key);
	sf_validate_error(net->check, name, SF_CODE_TARGET, "Missing job in 'After': %s%s",
					  name->string, sf_closest_question(&closest));
}

/* Report an element of After that waits for a job which an earlier element waits for. */
static bool
is_repeated(Net *net, int number, const SfTreeNode *link, int before)
{
	if (net->jobs[before].stamp != number + 1)
	{
		net->jobs[before].stamp = number + 1;
		return false;
	}
	sf_validate_error(net->check, link, SF_CODE_SCHEMA, "Job '%s' stands in 'After' already",
					  net->jobs[before].node->key);
	return true;
}

/* Note what a job waits for; report names that no job has. */
static void
link_job(Net *net, int number)
{
	Job		   *job = &net->jobs[number];

	job->after = sf_tree_member(job->node, "After");
	if (job->after == NULL || job->after->kind != SF_TREE_ARRAY)
		return;
	job->links = palloc(sizeof(SfNetJobLink) * Max(job->after->nchildren, 1));
	SF_TREE_FOREACH(link, job->after)
	{
		const SfTreeNode *name = sf_asl_link_net_job(link);
		const SfTreeNode *before;

		if (name == NULL)
			continue;			/* reported already */
		before = sf_tree_search_members(net->sorted, net->njobs, name->string);
		if (before == NULL)
		{
			report_unknown(net, name);
			continue;
		}
		if (is_repeated(net, number, link, before->index))
			continue;
		job->links[job->nlinks].job = before->index;
		job->links[job->nlinks++].on = sf_asl_link_ends(link);
	}
}

/* Report the circle that a link back to a job on the way makes. */
static void
report_cycle(Net *net, int job)
{
	StringInfoData names;
	int			from = net->nway - 1;
	int			n;

	net->has_cycle = true;
	while (net->way[from] != job)
		from--;
	n = net->nway - from;
	initStringInfo(&names);
	for (int i = 1; i < Min(n, CIRCLE_MAX); i++)
		appendStringInfo(&names, "'%s', which waits for ", net->jobs[net->way[from + i]].node->key);
	if (n > CIRCLE_MAX)
		appendStringInfo(&names, "%d more, the last of which waits for ", n - CIRCLE_MAX);
	sf_validate_error(net->check, net->jobs[job].after, SF_CODE_JOB_CYCLE,
					  "Jobs wait for each other: '%s' waits for %s'%s'", net->jobs[job].node->key,
					  names.data, net->jobs[job].node->key);
	pfree(names.data);
}

/* Follow the links from a job, depth first: find circles, and an order. */
static void
follow(Net *net, int start)
{
	net->way[0] = start;
	net->nway = 1;
	net->jobs[start].seen = ON_WAY;
	while (net->nway > 0)
	{
		Job		   *job = &net->jobs[net->way[net->nway - 1]];

		CHECK_FOR_INTERRUPTS();
		if (job->next == job->nlinks)
		{
			job->seen = DONE;
			net->order[net->norder++] = net->way[--net->nway];
			continue;
		}
		start = job->links[job->next++].job;
		if (net->jobs[start].seen == ON_WAY)
			report_cycle(net, start);
		else if (net->jobs[start].seen == UNSEEN)
		{
			net->jobs[start].seen = ON_WAY;
			net->way[net->nway++] = start;
		}
	}
}

/* --- jobs that can never run --- */

/* How a job can end once it runs. */
static int
ends_of_run(const SfTreeNode *job)
{
	const char *type = sf_tree_member_string(job, "Type");

	return type != NULL && strcmp(type, "Fail") == 0 ? SF_NET_JOB_END_FAILURE :
		SF_NET_JOB_END_SUCCESS | SF_NET_JOB_END_FAILURE;
}

/* How a job can end: it is skipped only if something can keep it from running. */
static int
possible_ends(const Job *job)
{
	int			ends = ends_of_run(job->node);

	if (sf_tree_member(job->node, "Condition") != NULL)
		return ends | SF_NET_JOB_END_SKIP;
	for (int i = 0; i < job->nlinks; i++)
		if (job->links[i].on != SF_NET_JOB_END_ANY)
			return ends | SF_NET_JOB_END_SKIP;
	return ends;
}

/* Report that a job can never run, because of one that comes before it. */
static void
report_never(Net *net, const Job *job, const Job *before)
{
	sf_validate_error(net->check, job->after, SF_CODE_JOB_NEVER_RUNS,
					  "Job '%s' can never run: no end of job '%s' lets all run that has to run before it",
					  job->node->key, before->node->key);
}

/*
 * Note that a job, for another one to run, has to end in one of some ways; false: it
 * cannot.  If it has to run for that, it is to be followed, too.
 */
static bool
need(Net *net, int stamp, const SfNetJobLink *link)
{
	Job		   *before = &net->jobs[link->job];
	int			needed;

	if (before->stamp != stamp)
	{
		before->stamp = stamp;
		before->needed = possible_ends(before);
		before->seen = UNSEEN;
	}
	needed = before->needed & link->on;
	before->needed = needed;
	if ((needed & SF_NET_JOB_END_SKIP) == 0 && before->seen == UNSEEN)
	{
		before->seen = DONE;
		net->way[net->nway++] = link->job;
	}
	return needed != 0;
}

/*
 * Check that a job can run: find all that has to run before it, and whether one of
 * these would have to end in two ways.
 */
static void
check_can_run(Net *net, int number)
{
	const Job  *job = &net->jobs[number];

	net->nway = 0;
	net->way[net->nway++] = number;
	while (net->nway > 0 && net->nfollowed < LINKS_MAX)
	{
		const Job  *next = &net->jobs[net->way[--net->nway]];

		for (int i = 0; i < next->nlinks; i++)
		{
			CHECK_FOR_INTERRUPTS();
			net->nfollowed++;
			if (need(net, net->njobs + number + 1, &next->links[i]))
				continue;
			report_never(net, job, &net->jobs[next->links[i].job]);
			return;
		}
	}
}

/* Check which jobs can run; a net in which all links need successes needs no look. */
static void
check_runs(Net *net)
{
	for (int i = 0; i < net->norder; i++)
	{
		Job		   *job = &net->jobs[net->order[i]];

		for (int j = 0; j < job->nlinks; j++)
		{
			const SfNetJobLink *link = &job->links[j];
			const Job  *before = &net->jobs[link->job];

			if ((link->on & SF_NET_JOB_END_SUCCESS) == 0 ||
				(ends_of_run(before->node) & SF_NET_JOB_END_SUCCESS) == 0 ||
				((link->on & SF_NET_JOB_END_SKIP) == 0 && before->picky))
				job->picky = true;
		}
		if (job->picky)
			check_can_run(net, net->order[i]);
	}
}

/* --- references to other jobs --- */

/* A job whose texts are looked through */
typedef struct Reader
{
	Net		   *net;
	int			job;
	bool		knows_before;	/* the jobs that come before it are stamped */
} Reader;

/* Stamp all jobs that come before one. */
static void
stamp_before(Net *net, int number)
{
	net->nway = 0;
	net->way[net->nway++] = number;
	while (net->nway > 0)
	{
		const Job  *next = &net->jobs[net->way[--net->nway]];

		for (int i = 0; i < next->nlinks; i++)
		{
			Job		   *before = &net->jobs[next->links[i].job];

			CHECK_FOR_INTERRUPTS();
			if (before->stamp == -number - 1)
				continue;
			before->stamp = -number - 1;
			net->way[net->nway++] = next->links[i].job;
		}
	}
}

/* Tell whether a job waits for another one, at once or by others. */
static bool
comes_before(Reader *reader, int other)
{
	const Job  *job = &reader->net->jobs[reader->job];

	for (int i = 0; i < job->nlinks; i++)
		if (job->links[i].job == other)
			return true;
	if (!reader->knows_before)
		stamp_before(reader->net, reader->job);
	reader->knows_before = true;
	return reader->net->jobs[other].stamp == -reader->job - 1;
}

/* Report a reference to a job that there is not, or that does not come before. */
static void
check_use(void *arg, const SfTreeNode *at, bool of_jobs, const char *name)
{
	Reader	   *reader = arg;
	Net		   *net = reader->net;
	const SfTreeNode *used;

	if (name == NULL)
		return;
	used = sf_tree_search_members(net->sorted, net->njobs, name);
	if (used == NULL)
	{
		SfClosest	closest = sf_closest_begin(name);

		for (int i = 0; i < net->njobs; i++)
			sf_closest_offer(&closest, net->sorted[i]->key);
		sf_validate_error(net->check, at, SF_CODE_TARGET, "The net has no job '%s'.%s", name,
						  sf_closest_question(&closest));
	}
	else if (!comes_before(reader, used->index))
		sf_validate_error(net->check, at, SF_CODE_TARGET,
						  "Job '%s' does not come before job '%s', which looks at it", name,
						  net->jobs[reader->job].node->key);
}

/* Check the references to other jobs. */
static void
check_uses(Net *net)
{
	for (int i = 0; i < net->njobs; i++)
	{
		Reader		reader = {.net = net,.job = i};

		sf_asl_net_job_uses(net->jobs[i].node, check_use, &reader);
	}
}

/* Report a reference to jobs where there are none. */
static void
report_use(void *arg, const SfTreeNode *at, bool of_jobs, const char *name)
{
	if (of_jobs)
		sf_validate_error(arg, at, SF_CODE_TARGET,
						  "Only jobs of a JobNet can look at jobs, and not from a Distributed Map");
}

/* Check that the texts of a machine which no job has do not look at jobs. */
void
sf_validate_no_jobs(SfValidator *validator, const SfTreeNode *root)
{
	sf_asl_net_job_uses_outside(root, false, report_use, validator);
}

/* Check the net that the jobs make. */
void
sf_validate_net(SfValidator *validator, const SfTreeNode *jobs)
{
	Net			net = {.check = validator,.njobs = jobs->nchildren};

	if (net.njobs == 0)
		return;
	net.jobs = palloc0(sizeof(Job) * net.njobs);
	net.sorted = sf_tree_sort_members(jobs);
	net.way = palloc(sizeof(int) * net.njobs);
	net.order = palloc(sizeof(int) * net.njobs);
	SF_TREE_FOREACH(node, jobs)
		net.jobs[node->index].node = node;
	for (int i = 0; i < net.njobs; i++)
		link_job(&net, i);
	for (int i = 0; i < net.njobs; i++)
		if (net.jobs[i].seen == UNSEEN)
			follow(&net, i);
	if (net.has_cycle)
		return;
	check_runs(&net);
	check_uses(&net);
}
