// Statuses of each kind of things; a tone gives the icon and the colour.

import { h } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { tr } from '../language/texts.js';

/** @import { Content } from '../base/dom.js' */

/**
 * Statuses of one kind of things: the tone of each, which is the name of an icon and of a colour, and its word.
 * @typedef {Record<string, { tone: string, word: string }>} Statuses
 */

// Of executions and of Map runs.
export const EXECUTION = {
  SUCCEEDED: { tone: 'ok', word: tr('Succeeded') },
  FAILED: { tone: 'bad', word: tr('Failed') },
  TIMED_OUT: { tone: 'late', word: tr('Timed out') },
  ABORTED: { tone: 'stop', word: tr('Stopped') },
  RUNNING: { tone: 'run', word: tr('Running') },
};

// Of rows of the night, which are runs of schedules, too.
export const NIGHT = {
  ...EXECUTION,
  DUE: { tone: 'wait', word: tr('Due') },
  QUEUED: { tone: 'wait', word: tr('Queued') },
  SKIPPED: { tone: 'skip', word: tr('Left out') },
  MISSED: { tone: 'late', word: tr('Missed') },
  INACTIVE: { tone: 'stop', word: tr('Inactive') },
  FAILING: { tone: 'bad', word: tr('Failing') },
};

// Of states of an execution, their visits, and jobs.
export const JOB = {
  success: { tone: 'ok', word: tr('success') },
  failure: { tone: 'bad', word: tr('failure') },
  running: { tone: 'run', word: tr('running') },
  entry: { tone: 'entry', word: tr('not reached yet') },
  skip: { tone: 'skip', word: tr('skipped') },
  aborted: { tone: 'stop', word: tr('aborted') },
  held: { tone: 'held', word: tr('held') },
  unknown: { tone: 'unknown', word: tr('unknown') },
};

// Of tasks under way.
export const TASK = {
  queued: { tone: 'wait', word: tr('queued') },
  waiting: { tone: 'wait', word: tr('waiting') },
  running: { tone: 'run', word: tr('running') },
  answered: { tone: 'run', word: tr('answered') },
  retrying: { tone: 'wait', word: tr('retrying') },
  held: { tone: 'held', word: tr('held') },
  dead: { tone: 'bad', word: tr('dead') },
};

// Of schedules.
export const SCHEDULE = {
  active: { tone: 'ok', word: tr('active') },
  failing: { tone: 'bad', word: tr('failing') },
  missed: { tone: 'late', word: tr('missed') },
  gone: { tone: 'bad', word: tr('gone') },
  inactive: { tone: 'stop', word: tr('inactive') },
  'not driven': { tone: 'stop', word: tr('not driven') },
};

// Of runs of a schedule.
export const SCHEDULE_RUN = {
  succeeded: { tone: 'ok', word: tr('succeeded') },
  failed: { tone: 'bad', word: tr('failed') },
  running: { tone: 'run', word: tr('running') },
  queued: { tone: 'wait', word: tr('queued') },
  skipped: { tone: 'skip', word: tr('skipped') },
  overlap: { tone: 'skip', word: tr('left out: overlap') },
  missed: { tone: 'late', word: tr('missed') },
};

// Of deliveries of rules.
export const DELIVERY = {
  PENDING: { tone: 'wait', word: tr('waiting') },
  DEAD: { tone: 'bad', word: tr('dead') },
};

// What deadlines tell.
export const DEADLINE = {
  late: { tone: 'late', word: tr('late') },
  will_be_late: { tone: 'late', word: tr('will be late') },
  never_started: { tone: 'late', word: tr('never started') },
};

// Kinds of alerts.
export const ALERT = {
  ...DEADLINE,
  failed: { tone: 'bad', word: tr('failed') },
  timed_out: { tone: 'late', word: tr('timed out') },
  failed_again: { tone: 'bad', word: tr('failed again') },
  slow_task: { tone: 'late', word: tr('slow task') },
  dead_letter: { tone: 'late', word: tr('dead letter') },
  no_poller: { tone: 'late', word: tr('no poller') },
  archive_behind: { tone: 'late', word: tr('archive behind') },
  overdue: { tone: 'late', word: tr('overdue') },
  missed_run: { tone: 'late', word: tr('missed run') },
  task_due: { tone: 'late', word: tr('task due') },
  unreceived_event: { tone: 'late', word: tr('unreceived event') },
  unknown_owner: { tone: 'late', word: tr('unknown owner') },
};

// Of these, the kinds of what has ended without success; the others tell of what is late or stuck.
export const ENDED_BADLY = ['failed', 'timed_out', 'failed_again'];

// How bad is what a definition has.
export const SEVERITY = {
  ERROR: { tone: 'bad', word: tr('error') },
  WARNING: { tone: 'late', word: tr('warning') },
};

/**
 * The icon of a status, and its colour.
 * @param {Statuses} statuses
 * @param {string} status
 * @returns {string}
 */
export function toneOf(statuses, status) {
  return statuses[status]?.tone ?? 'unknown';
}

/**
 * The word for a status.
 * @param {Statuses} statuses
 * @param {string} status
 * @returns {string}
 */
export function statusWord(statuses, status) {
  return statuses[status]?.word ?? String(status);
}

// Words in a tone: with its icon and in its colour.
export function badge(tone, words) {
  return h('span', { class: `badge ${tone}` }, icon(tone), words);
}

/**
 * A status: its word, or others, in its tone.
 * @param {Statuses} statuses
 * @param {string} status
 * @param {Content} [words]
 * @returns {HTMLElement}
 */
export function statusBadge(statuses, status, words = statusWord(statuses, status)) {
  return badge(toneOf(statuses, status), words);
}

// What says that something is held.
export function heldBadge() {
  return badge('held', tr('Held'));
}
