// One state machine: its definition beside its picture, its versions, a form to try things, how long its jobs take.

import { hold, release, start } from '../action/actions.js';
import { ApiError } from '../base/api.js';
import { h } from '../base/dom.js';
import { duration } from '../base/format.js';
import { addressOf } from '../base/links.js';
import { text, time } from '../base/values.js';
import { facts, loading, section } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { may } from '../element/rights.js';
import { badge, heldBadge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
import { tabs } from '../element/tabs.js';
import { loadPicture } from '../graph/picture.js';
import { tr } from '../language/texts.js';
import { deadlines } from '../steering/deadlines.js';
import { heldNotices } from '../steering/holds.js';
import { limits, newLimit } from '../steering/limits.js';
import { definitionTab } from './definition.js';
import { grid } from './grid.js';
import { testTab } from './state_test.js';
import { versionsTab } from './versions.js';

/** @import { Doc } from '../base/format.js' */
/** @import { Rights } from '../element/rights.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { Layout } from '../graph/graph.js' */
/** @import { Grid } from './grid.js' */

/**
 * A version of a machine; definition is as it was written.
 * @typedef {{ state_machine: string, version: number, is_current: boolean, owner: string, definition: string,
 *   execution_id_path: string | null, options: object | null, created_at: string }} Machine
 */

/**
 * The data of the page: what `machine` answers, and what was asked for beside it.
 * @typedef {object} MachineData
 * @property {Machine} machine
 * @property {Rights} rights
 * @property {{ version: number, is_current: boolean, created_at: string }[]} versions
 * @property {{ alias: string, version: number, percent: number }[]} aliases
 * @property {object[]} times how long its jobs take
 * @property {object[]} held
 * @property {object[]} [limits] if the build has them, as the deadlines
 * @property {object[]} [deadlines]
 * @property {Layout | null} layout the picture; without it layoutError
 * @property {Error} [layoutError]
 * @property {{ rows?: { pointer: string, change: string, before: Doc, after: Doc }[], error?: Error } | null} diff
 * @property {Grid | null} lastRuns
 */

export function title({ argument }) {
  return argument;
}

/**
 * @param {Context} context
 * @param {MachineData} [before]
 * @returns {Promise<MachineData>}
 */
export async function load({ argument: name, query, ask }, before) {
  const version = query.version ? Number(query.version) : undefined;
  const [machine, drawing, diff, lastRuns] = await Promise.all([
    ask('machine', { state_machine: name, ...(version ? { version } : {}) }),
    loadPicture(ask, version ? `${name}/${version}` : name),
    query.tab === 'versions' && query.a && query.b ?
      ask('diff', { state_machine: name, a: Number(query.a), b: Number(query.b) }).catch(error => ({ error })) : null,
    query.tab === 'runs' ? ask('grid', { state_machine: name }) : before?.lastRuns ?? null,
  ]);
  if (!machine)
    throw new ApiError(404, { message: tr('State machine "{0}" does not exist, or you may not read it.', name) });
  return { ...machine, ...drawing, diff, lastRuns };
}

// How long the jobs of the machine take.
function timesTab(data) {
  return [table(tr('Times of jobs'), [
    { title: tr('Job'), cell: r => text(r.job_id) },
    { title: tr('Runs'), cell: r => String(r.runs), class: 'num' },
    { title: tr('Failures'), cell: r => r.failures > 0 ? badge('bad', String(r.failures)) : '0', class: 'num' },
    { title: tr('Recent median'), cell: r => duration(r.recent_ms_p50) || null, class: 'num' },
    { title: tr('Recent 95 %'), cell: r => duration(r.recent_ms_p95) || null, class: 'num' },
    { title: tr('This week'), cell: r => duration(r.week_ms_p50) || null, class: 'num' },
    { title: tr('The week before'), cell: r => duration(r.previous_week_ms_p50) || null, class: 'num' },
  ], data.times, r => r.job_id, tr('No job has run.')), cutNote(data, 'times')];
}

// The name of the machine, and what can be done with it.
function titlePart({ machine, rights, held }, context) {
  const name = machine.state_machine;
  const own = held.find(x => x.target === name && !x.state);
  const mayOperate = may(rights, name, 'OPERATE');
  return h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(name, 'id')),
    h('span', { class: 'muted' },
      tr('version {0}{1}', machine.version, machine.is_current ? '' : tr(' (not the current one)'))),
    own ? heldBadge() : null,
    h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
      may(rights, name, 'START') ?
        button(tr('Start…'),
          () => context.refreshAfter(start(machine.is_current ? name : `${name}/${machine.version}`, context)), {
          class: 'primary',
        }) : null,
      !mayOperate ? null :
        own ? button(tr('Release…'), () => context.refreshAfter(release(own))) :
        button(tr('Hold…'), () => context.refreshAfter(hold([name]))),
      h('a', { class: 'button', href: addressOf('executions', '', { state_machine: name }) }, tr('Executions'))));
}

// The limits of the machine and its states, and a button for a new one.
function limitsPart(data, mayOperate, context) {
  if (!data.limits || (data.limits.length === 0 && !mayOperate)) return null;
  const name = data.machine.state_machine;
  const targets = [name, ...(data.layout?.states ?? []).map(x => `${name}/${x.name}`)];
  return section(tr('Limits'), {}, limits(data.limits, context.refreshAfter), cutNote(data, 'limits'),
    mayOperate ? h('div', { class: 'row' }, newLimit(context.refreshAfter, targets)) : null);
}

/**
 * @param {MachineData} data
 * @param {Context} context
 */
export function draw(data, context) {
  const { machine } = data;
  const name = machine.state_machine;
  const mayOperate = may(data.rights, name, 'OPERATE');
  const list = [
    { id: 'definition', label: tr('Definition'), content: () => definitionTab(data, context) },
    { id: 'versions', label: tr('Versions'), content: () => versionsTab(data, context) },
    { id: 'try', label: tr('Try'), content: () => testTab(data, context) },
    { id: 'runs', label: tr('Last runs'), content: () => data.lastRuns ? grid(data.lastRuns, name) : loading() },
    { id: 'times', label: tr('Times of jobs'), content: () => timesTab(data) },
  ];
  return [
    titlePart(data, context),
    h('div', { key: 'facts' }, facts([
      [tr('Owner'), text(machine.owner)],
      [tr('Created'), time(machine.created_at)],
      [tr('Name from'), machine.execution_id_path ? h('code', null, text(machine.execution_id_path)) : null],
      [tr('Options'),
        Object.keys(machine.options ?? {}).length ? h('code', null, JSON.stringify(machine.options)) : null],
    ])),
    data.deadlines?.length ? section(tr('Deadlines'), {}, deadlines(data.deadlines), cutNote(data, 'deadlines')) : null,
    heldNotices(data.held.filter(x => x.state || x.target === name), mayOperate, context.refreshAfter),
    limitsPart(data, mayOperate, context),
    h('div', { class: 'card', key: 'tabs' },
      tabs(tr('Views'), list, context.query.tab ?? 'definition', tab => context.go({ ...context.query, tab }))),
  ];
}
