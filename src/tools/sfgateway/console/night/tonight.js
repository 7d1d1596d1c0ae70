// What an operator looks at first: what failed and why, what is late, what runs, what comes next.

import { h } from '../base/dom.js';
import { between, count, distance, duration, machineOf, roughDuration } from '../base/format.js';
import { icon } from '../base/icons.js';
import { addressOf, alertLink, executionLink, failedLink, machineLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { notice, section } from '../element/blocks.js';
import { missingNodes, nodeNote, nodeOf } from '../element/nodes.js';
import { ALERT, ENDED_BADLY, EXECUTION, SCHEDULE, statusBadge, statusWord } from '../element/statuses.js';
import { countOf, cutNote, rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { acknowledgeButton } from '../monitoring/acknowledge.js';
import { deadlines } from '../steering/deadlines.js';
import { heldTable } from '../steering/holds.js';
import { limits } from '../steering/limits.js';
import { failures, failuresPart } from './failures.js';
import { DAY, hours } from './hours.js';
import { night, schedule, upTo } from './night.js';

/** @import { Rights } from '../element/rights.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { Failure } from './failures.js' */
/** @import { NightRow } from './night.js' */

/**
 * The data of the page: what `tonight` answers, and in night what `night` does.
 * @typedef {object} TonightData
 * @property {Record<string, number>} kinds how many alerts there are of each
 * @property {Failure[]} failed
 * @property {object[]} late alerts
 * @property {object[]} tolerated runs of Distributed Maps
 * @property {object[]} running
 * @property {number} running_count
 * @property {object[]} next schedules
 * @property {object[]} ended
 * @property {object[]} machines
 * @property {{ hour: string, started: number, succeeded: number, failed: number, aborted: number }[]} hours
 * @property {object[]} held
 * @property {object[]} [limits] if the build has them, as the deadlines
 * @property {object[]} [deadlines]
 * @property {{ item: string, detail: string }[]} unwell
 * @property {boolean} sees whether the role may read any machine
 * @property {Rights} rights
 * @property {object[]} [nodes_missing]
 * @property {{ rows: NightRow[] }} night
 */

export function title() {
  return tr('Tonight');
}

export async function load({ ask }) {
  const since = new Date(Date.now() - DAY).toISOString();
  const [now, ofNight] = await Promise.all([ask('tonight', { since }), ask('night')]);
  return { ...now, night: ofNight };
}

// How many alerts there are of what is late or stuck.
function late(data) {
  return Object.entries(data.kinds).filter(([kind]) => !ENDED_BADLY.includes(kind)).reduce((sum, [, n]) => sum + n, 0);
}

// How soon to look again.
export function pace(data) {
  return data.running.length ? 4000 : 10000;
}

// What a screen reader hears of a change.
export function news(before, after) {
  const known = new Set(before.failed.flatMap(f => f.executions));
  const failed = after.failed.flatMap(f => f.executions).filter(id => !known.has(id));
  if (failed.length)
    return `${count(failed.length, '{0} new failure|{0} new failures')}: ${failed.slice(0, 3).join(', ')}`;
  return failures(after) < failures(before) ? count(failures(after), '{0} failure left|{0} failures left') : '';
}

// Bring a part of the page into view; the keyboard goes on there.
function show(heading) {
  const found = document.getElementById(heading);
  found?.scrollIntoView();
  found?.closest('section').querySelector('a, button, summary')?.focus({ preventScroll: true });
}

// The tiles: each is a number and leads to its part of the page.
function tiles(data) {
  const next = data.next.find(n => n.next_run);
  const tile = (kind, number, words, target) =>
    h('li', { class: `tile ${number === '0' || number === null ? 'calm' : kind}` },
      h('button', { type: 'button', onclick: () => show(target) },
        h('span', { class: 'tile-top' }, icon(number === '0' ? 'ok' : kind), h('strong', null, number ?? '–')),
        h('span', null, words)));
  return h('ul', { class: 'tiles', 'aria-label': tr('Summary') },
    tile('bad', String(failures(data)), tr('failed'), 'h-failed'),
    tile('late', String(late(data)), tr('late or stuck'), 'h-late-or-stuck'),
    tile('run', upTo(data.running_count), tr('running'), 'h-running'),
    tile('held', countOf(data, 'held'), tr('held'), 'h-held'),
    tile(next && next.state !== 'active' ? 'bad' : 'wait',
      next ? roughDuration(Math.max(0, between(new Date(), next.next_run))) : null,
      !next ? tr('nothing scheduled') :
        tr('until {0}', next.schedule_name) +
        (next.state === 'active' ? '' : tr(', which is {0}', statusWord(SCHEDULE, next.state))), 'h-next'));
}

// Failures that a Distributed Map tolerates.
function tolerated(data) {
  return data.tolerated.length ?
    section(tr('Tolerated failures'), { count: countOf(data, 'tolerated') }, table(tr('Tolerated failures'), [
      { title: tr('Execution'), cell: r => executionLink(r.execution_id, { state: r.state }) },
      { title: tr('Node'), cell: nodeOf },
      { title: tr('Map'), cell: r => text(r.state) },
      { title: tr('Items that failed'), cell: r => tr('{0} of {1}', r.items_failed, r.items), class: 'num' },
      { title: tr('Map run'), cell: r => statusBadge(EXECUTION, r.status) },
      { title: tr('Began'), cell: r => time(r.started_at) },
    ], data.tolerated, r => rowKey(r.node, r.execution_id, r.state, r.started_at)), cutNote(data, 'tolerated')) : null;
}

// How many more executions of a machine there are than those that are shown.
function andMore(number, machine, href) {
  return h('small', null, tr(' and '), h('a', { href }, tr('{0} more of {1}', number, machine)));
}

// What runs for longest; of a machine with more than three executions the longest one, and how many more there are.
function running(data) {
  return section(tr('Running'), { id: 'h-running', count: upTo(data.running_count) }, table(tr('Running'), [
    { title: tr('Execution'),
      cell:
        r => [executionLink(r.execution_id),
          r.further > 0 ?
            andMore(r.running >= 1000 ? '999+' : r.further, r.state_machine,
              addressOf('executions', '', { state_machine: r.state_machine, status: 'RUNNING' })) : null] },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('For'), cell: r => duration(between(r.started_at ?? r.requested_at)), class: 'short' },
    { title: tr('Done'), cell: r => r.progress?.total ? tr('{0} of {1}', r.progress.done, r.progress.total) : null,
      class: 'short' },
    { title: tr('Ends about'), cell: r => new Date(r.progress?.eta ?? 0) > new Date() ? time(r.progress.eta) : null },
    { title: tr('Waits for'), cell: r => r.waiting_on ? text(r.waiting_on) : null, class: 'wide' },
  ], data.running.slice(0, 12), r => rowKey(r.node, r.execution_id), tr('Nothing runs.')),
    data.running.length > 12 || data.running.some(r => r.further > 0) ?
      h('p', null, h('a', { href: addressOf('executions', '', { status: 'RUNNING' }) }, tr('All that runs'))) : null);
}

// For a role that may read nothing: how it is given rights.
function unseen(role) {
  return h('div', { key: 'unseen' },
    notice('late',
      h('p', null,
        tr(
          'Your role may read no state machine, so this page stays empty. A member of the owner of a ' +
            'machine can give it the right:',
        )),
      h('p', null, h('code', null, text(`SELECT sf_grant('READ', 'machine', '${role.replaceAll("'", "''")}')`)))));
}

// What is wrong with the database itself.
function unwell(items) {
  return section(tr('Not well'), { class: 'warn' },
    h('ul', { class: 'names' },
      items.map(u => h('li', null, h('strong', null, u.item), nodeNote(u), ': ', text(u.detail)))),
    h('p', null, h('a', { href: addressOf('health') }, tr('Health'))));
}

// What is late or stuck.
function latePart(data, { refreshAfter }) {
  return section(tr('Late or stuck'), { id: 'h-late-or-stuck', count: late(data) }, table(tr('Late or stuck'), [
    { title: tr('What'), cell: r => statusBadge(ALERT, r.kind) },
    { title: tr('Of'),
      cell:
        r => [alertLink(r),
          r.further > 0 ? andMore(r.further, machineOf(r.execution_id), addressOf('alerts')) : null] },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('Since'), cell: r => time(r.since, true) },
    { title: tr('Why'), cell: r => r.detail ? text(r.detail) : null, class: 'wide' },
    { title: '', cell: r => acknowledgeButton(r, data, refreshAfter) },
  ], data.late, r => rowKey(r.node, r.kind, r.execution_id, r.target, r.detail), tr('Nothing is late.')),
    cutNote(data, 'late'));
}

// What schedules start next.
function nextPart(data) {
  return section(tr('Next'), { id: 'h-next' }, table(tr('Next'), [
    { title: tr('Schedule'), cell: r => schedule(r, r.schedule_name) },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('Starts'), cell: r => machineLink(machineOf(r.state_machine)) },
    { title: tr('At'),
      cell:
        r => [r.next_run ? [time(r.next_run), ' ', h('small', null, distance(r.next_run)), ' '] : null,
          r.next_run && r.state === 'active' ? null : statusBadge(SCHEDULE, r.state)] },
  ], data.next, r => rowKey(r.node, r.schedule_name), tr('Nothing is scheduled.')), cutNote(data, 'next'));
}

// How each machine did in the last 24 hours.
function byMachine(data) {
  return section(tr('By machine'), {}, table(tr('By machine'), [
    { title: tr('Machine'), cell: r => machineLink(r.state_machine) },
    { title: tr('Started'), cell: r => String(r.started), class: 'num' },
    { title: tr('Succeeded'), cell: r => String(r.succeeded), class: 'num' },
    { title: tr('Failed'), cell: failedLink, class: 'num' },
    { title: tr('Stopped'), cell: r => String(r.aborted), class: 'num' },
  ], data.machines, r => r.state_machine, tr('Nothing ran.')), cutNote(data, 'machines'));
}

// What succeeded last; of each machine the last one.
function endedPart(data) {
  return section(tr('Ended well'), {}, table(tr('Ended well'), [
    { title: tr('Execution'),
      cell:
        r => [executionLink(r.execution_id),
          r.further > 0 ?
            andMore(r.further, r.state_machine,
              addressOf('executions', '', { state_machine: r.state_machine, status: 'SUCCEEDED' })) : null] },
    { title: tr('Node'), cell: nodeOf },
    { title: tr('Ended'), cell: r => time(r.stopped_at) },
    { title: tr('Took'), cell: r => duration(r.took) || null },
  ], data.ended, r => rowKey(r.node, r.execution_id), tr('None yet.')), cutNote(data, 'ended'));
}

/**
 * @param {TonightData} data
 * @param {Context} context
 */
export function draw(data, context) {
  return [
    h('h1', { tabindex: '-1', key: 'h1' }, tr('Tonight')),
    missingNodes(data.nodes_missing?.length ? data : data.night),
    tiles(data),
    data.sees ? null : unseen(context.role),
    data.unwell.length ? unwell(data.unwell) : null,
    failuresPart(data, context),
    latePart(data, context),
    tolerated(data),
    h('div', { class: 'columns', key: 'columns' }, running(data), nextPart(data)),
    data.deadlines?.length ? section(tr('Deadlines'), {}, deadlines(data.deadlines), cutNote(data, 'deadlines')) : null,
    data.limits?.length ?
      section(tr('Limits that are used up'), {}, limits(data.limits, context.refreshAfter), cutNote(data, 'limits')) :
      null,
    night(data.night),
    data.held.length ?
      section(tr('Held'), { id: 'h-held', count: countOf(data, 'held') }, heldTable(data.held, context.refreshAfter),
        cutNote(data, 'held')) : null,
    h('div', { class: 'columns', key: 'columns2' }, section(tr('The last 24 hours'), {}, hours(data)), byMachine(data)),
    endedPart(data),
  ];
}
