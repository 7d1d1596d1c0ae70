// One execution: its picture, its jobs, its timeline, its payloads, and what can be done with it.

import { h } from '../base/dom.js';
import { stateOf } from '../base/format.js';
import { EXECUTION, statusWord } from '../element/statuses.js';
import { loadPicture, picture } from '../graph/picture.js';
import { centre } from '../graph/zoom.js';
import { tr } from '../language/texts.js';
import { headPart } from './execution_head.js';
import { executionTabs } from './execution_tabs.js';
import { NO_STATE, statePanel } from './state_panel.js';
import { mapRuns, tasksUnderWay } from './underway.js';

/** @import { Doc } from '../base/format.js' */
/** @import { FailedItem } from '../element/errors.js' */
/** @import { Rights } from '../element/rights.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { Layout, StateFacts } from '../graph/graph.js' */
/** @import { HistoryEvent } from './events.js' */
/** @import { Times, Usual } from './timeline.js' */

/**
 * What `execution` answers; times are in milliseconds.
 * @typedef {object} Head
 * @property {Record<string, any>} execution a row of sf_executions, with payloads
 * @property {StateFacts[]} states
 * @property {Rights} rights
 * @property {Record<string, number>} jobs how many by status
 * @property {string[]} [failed] the job with the error
 * @property {FailedItem | null} item one of a Distributed Map that failed
 * @property {number} took
 * @property {{ p50: number, p95: number } | null} usual
 * @property {{ done: number, total: number, eta?: string } | null} progress
 * @property {{ trace_id: string, is_sampled: boolean, exports_waiting: number, exports_rejected: number }} [trace]
 * @property {object[]} [waits] for limits
 * @property {object[]} tasks under way
 * @property {Record<string, any>[]} map_runs
 * @property {object[]} held
 * @property {object[]} done what operators did
 */

/**
 * What is shown of the state that is chosen: of `state`, or why it could not be asked for.
 * @typedef {object} ChosenState
 * @property {string} name
 * @property {Error} [error]
 * @property {object[]} [visits]
 * @property {object} [chosen] one of the visits
 * @property {Doc} [input]
 * @property {Doc} [output]
 * @property {Record<string, any>} [job]
 * @property {Usual} [usual]
 * @property {HistoryEvent[]} [events]
 */

/**
 * The data of the page. Each of times, jobs and events is null until its tab is shown.
 * @typedef {object} ExecutionData
 * @property {Head} head
 * @property {Layout | null} layout the picture; without it layoutError
 * @property {Error} [layoutError]
 * @property {Times | null} times
 * @property {{ rows: object[], next: number | null } | null} jobs
 * @property {{ rows: HistoryEvent[], next: number | null } | null} events
 * @property {ChosenState | null} state
 * @property {object[]} items items of Distributed Maps that did not succeed
 */

export function title({ argument }) {
  return argument;
}

const OTHER_TABS = ['jobs', 'events', 'payloads', 'done']; // than the timeline

// The state that is chosen by itself, if the execution did not succeed: that of the job with the error; else a task
// that failed, rather than a Fail state or one that was aborted with others.
function failedState(head) {
  if (!['FAILED', 'TIMED_OUT', 'RUNNING'].includes(head.execution.status)) return undefined;
  const failed = head.states.filter(x => x.status === 'failure');
  const job = head.failed && stateOf(head.failed[0], new Set(failed.map(x => x.name)));
  return job ?? (failed.findLast(x => x.attempts > 0 && !x.aborted) ?? failed.at(-1))?.name;
}

// A page of items of a Distributed Map that did not succeed.
function failedItems(execution, states, ask) {
  return states.map_runs.some(r => r.failed + r.timed_out + r.aborted > 0) ?
    Promise.all(['FAILED', 'TIMED_OUT'].map(status => ask('executions', { parent: execution, status, limit: 25 })))
      .then(pages => pages.flatMap(p => p.rows)) : [];
}

// The picture of an execution, which stays the same unless a redrive has given it another version.
async function loadLayout(id, loadingHead, ask, before) {
  const isSame = before?.layout && (await loadingHead).execution.version === before.head.execution.version;
  return isSame ? { layout: before.layout } : loadPicture(ask, id);
}

// What the tab of the jobs shows.
function loadJobs(id, query, ask) {
  return ask('jobs', { execution_id: id, ...(query.job_status ? { status: query.job_status } : {}),
    ...(query.jobs_after ? { after: query.jobs_after } : {}) });
}

// What the tab of the timeline shows.
function loadTimeline(id, query, ask) {
  return ask('timeline', { execution_id: id, inside: query.inside === '1',
    ...(query.after ? { after: query.after } : {}) });
}

// What the tab of the events shows.
function loadEvents(id, query, ask) {
  return ask('events', { execution_id: id, ...(query.events_after ? { after: query.events_after } : {}) });
}

// The state that the address names, or that is chosen by itself.
async function loadChosen(id, loadingHead, query, ask) {
  const name = query.state ?? failedState(await loadingHead);
  if (!name || name === NO_STATE) return null;
  try {
    const found = await ask('state', { execution_id: id, state: name,
      ...(query.event ? { event: Number(query.event) } : {}) });
    return { name, ...found };
  } catch (error) {
    return { name, error };
  }
}

/**
 * @param {Context} context
 * @param {ExecutionData} [before]
 * @returns {Promise<ExecutionData>}
 */
export async function load({ argument: id, query, ask }, before) {
  const loadingHead = ask('execution', { execution_id: id });
  const isTimeline = !OTHER_TABS.includes(query.tab);
  const [head, drawing, times, jobs, state, events] = await Promise.all([
    loadingHead,
    loadLayout(id, loadingHead, ask, before),
    isTimeline ? loadTimeline(id, query, ask) : before?.times ?? null,
    query.tab === 'jobs' ? loadJobs(id, query, ask) : before?.jobs ?? null,
    loadChosen(id, loadingHead, query, ask),
    query.tab === 'events' ? loadEvents(id, query, ask) : before?.events ?? null,
  ]);
  return { head, ...drawing, times, jobs, state, events, items: await failedItems(id, head, ask) };
}

// How soon to look again.
export function pace(data) {
  return data.head.execution.status === 'RUNNING' ? 1500 : 15000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const was = before.head.execution.status, is = after.head.execution.status;
  return was === is ? '' : `${after.head.execution.execution_id}: ${statusWord(EXECUTION, is)}`;
}

// The name of the state that is chosen.
function stateName(data, context) {
  const name = context.query.state ?? data.state?.name;
  return name === NO_STATE ? undefined : name;
}

// Bring a state that was not chosen before into the middle of the picture, once there is one.
function centreOnce(name, data, { kept }) {
  if (name && data.layout && kept.centred !== name) centre(name);
  kept.centred = data.layout ? name : undefined;
}

/**
 * @param {ExecutionData} data
 * @param {Context} context
 */
export function draw(data, context) {
  const { head } = data;
  const { tasks, map_runs: runs } = head;
  const name = stateName(data, context);
  const { job } = data.state ?? {};
  const isErrorTold = job?.error !== undefined && job.error === head.execution.error && name === data.state.name;
  context.afterDraw(() => centreOnce(name, data, context));
  return [
    headPart(head, context, isErrorTold),
    h('div', { class: `split${name ? ' open' : ''}`, key: 'split' },
      h('section', { class: 'card graph-card', 'aria-labelledby': 'h-graph', key: 'graph-card' },
        h('h2', { id: 'h-graph', class: 'unseen' }, tr('Picture')),
        picture(data, head.states, name, state => context.go({ ...context.query, state, event: undefined }),
          tr('States of the execution'), context)), statePanel(name, data, context)),
    h('div', { class: 'card', key: 'tabs' }, executionTabs(data, name, context)),
    runs.length ? mapRuns(runs, data.items) : null,
    tasks.length ? tasksUnderWay(tasks) : null,
  ];
}
