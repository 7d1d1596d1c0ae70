// Two executions beside each other: what is different, job by job, and the timelines of both.

import { h } from '../base/dom.js';
import { clock, count, duration, stateNames } from '../base/format.js';
import { addressOf, executionLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { notice, section } from '../element/blocks.js';
import { field } from '../element/controls.js';
import { errorName, errorNotice } from '../element/errors.js';
import { EXECUTION, JOB, statusBadge, statusWord } from '../element/statuses.js';
import { table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { excess, shownTime, timeline } from './timeline.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { Times } from './timeline.js' */

/**
 * One of the executions.
 * @typedef {{ execution_id: string, status: string, version: number, requested_at: string, took: number | null,
 *   error: string | null }} ComparedRun
 */

/**
 * A job of one or both of the executions; times are in milliseconds.
 * @typedef {object} ComparedJob
 * @property {string} job_id
 * @property {'a' | 'b' | null} only_in
 * @property {string | null} status_a
 * @property {string | null} status_b
 * @property {number | null} attempts_a
 * @property {number | null} attempts_b
 * @property {number | null} ms_a
 * @property {number | null} ms_b
 * @property {number | null} usual
 * @property {string | null} error_a
 * @property {string | null} error_b
 * @property {string[] | null} input_differs JSON pointers, as in output_differs; is_cut: there can be more
 * @property {string[] | null} output_differs
 * @property {boolean} is_cut
 */

/**
 * The data of the page: what `compare` answers, and the timelines.
 * @typedef {object} Comparison
 * @property {ComparedRun | null} a the other execution
 * @property {ComparedRun} b this one
 * @property {string | null} good the id of the last one before b that succeeded
 * @property {{ execution_id: string, status: string, requested_at: string }[]} others to choose from
 * @property {number} jobs how many there are, and in differ how many of them differ
 * @property {number} differ
 * @property {ComparedJob[]} rows
 * @property {(Times | null)[]} times of a and of b
 * @property {Error} [problem] why a could not be compared
 */

export function title({ argument }) {
  return tr('Compare {0}', argument);
}

// Without the other execution, if there is none of that id: the page still shows this one, and lets choose again.
function askAgain(error, id, query, ask) {
  if (error.status !== 404 || !query.a) throw error;
  return ask('compare', { b: id }).then(found => ({ ...found, a: null, rows: [], problem: error }));
}

/**
 * @param {Context} context
 * @returns {Promise<Comparison>}
 */
export async function load({ argument: id, query, ask }) {
  const found = await ask('compare', { b: id, ...(query.a ? { a: query.a } : {}), all: query.all === '1' }).catch(
    error => askAgain(error, id, query, ask)
  );
  if (!found.b) throw new Error(tr('Execution "{0}" does not exist, or you may not read it.', id));
  const times = await Promise.all(
    [found.a, found.b].map(run => run ? ask('timeline', { execution_id: run.execution_id }) : null),
  );
  return { ...found, times };
}

// How soon to look again.
export function pace(data) {
  return [data.a, data.b].some(run => run?.status === 'RUNNING') ? 3000 : 15000;
}

// The form that chooses the other execution.
function chooser(data, context) {
  const choose = event => {
    event.preventDefault();
    context.go({ ...context.query, a: new FormData(event.currentTarget).get('a') || undefined });
  };
  return h('form', { class: 'row', key: 'choose', onsubmit: choose },
    field(tr('Compare with'),
      h('input', { name: 'a', list: 'others', size: '40', value: data.a?.execution_id ?? context.query.a ?? '',
        autocomplete: 'off', spellcheck: 'false', required: true }), tr('An execution, such as one of the last runs')),
    h('datalist', { id: 'others' },
      data.others.map(run =>
        h('option', { value: run.execution_id }, `${statusWord(EXECUTION, run.status)}, ${clock(run.requested_at)}`)
      )), h('button', { type: 'submit' }, tr('Compare')),
    data.good && data.a?.execution_id !== data.good ?
      h('a', { class: 'button', href: addressOf('compare', context.argument) }, tr('With the last good run')) : null);
}

// Both executions, a row for each.
function executionsTable(data) {
  return table(tr('The executions'), [
    { title: tr('Which'),
      cell: r =>
        r === data.b ? tr('this run') : r.execution_id === data.good ? tr('the last good run') : tr('the other run') },
    { title: tr('Execution'), cell: r => executionLink(r.execution_id) },
    { title: tr('Status'), cell: r => statusBadge(EXECUTION, r.status) },
    { title: tr('Version'), cell: r => String(r.version), class: 'num' },
    { title: tr('Requested'), cell: r => time(r.requested_at) },
    { title: tr('Ran'), cell: r => duration(r.took) || null, class: 'num' },
    { title: tr('Error'), cell: r => r.error ? errorName(r.error) : null, class: 'wide' },
  ], [data.a, data.b].filter(Boolean), (r, n) => n);
}

// The pointers at which payloads differ: the first ones, and the others folded.
function differingPointers(pointers, cut) {
  if (!pointers) return null;
  if (pointers.length === 0) return h('span', { class: 'muted' }, tr('nothing'));
  const lines = pointers.map(p =>
    p === '' ? h('div', null, tr('all of it')) : h('div', null, h('code', null, text(p)))
  );
  const rest = lines.length - 3;
  const more = cut && pointers.length >= 20 ? tr(', and there are more') : '';
  return rest < 2 ? lines :
    [lines.slice(0, 3),
      h('details', null, h('summary', null, tr('{0} further places{1}', rest, more)), lines.slice(3))];
}

// The status of a job in one of the executions.
function statusIn(run, status, row) {
  return row.only_in && row.only_in !== run ? h('span', { class: 'muted' }, tr('no such job')) :
    statusBadge(JOB, status);
}

// What a job took, and how that compares with what is usual.
function tookIn(ms, row) {
  if (ms === null) return null;
  const words = excess(ms, row.usual);
  return [duration(ms), words ? h('small', null, ` ${words}`) : null];
}

// The job of a row as a link to the execution that has it.
function jobLink(row, data) {
  const run = row.only_in === 'a' ? data.a : data.b;
  const state = stateNames(row.job_id)[1];
  return h('a', { href: addressOf('execution', run.execution_id, { state }) }, text(row.job_id));
}

// The jobs that differ, or all.
function jobsTable(data, context) {
  const all = context.query.all === '1';
  return [
    h('label', { class: 'tick' },
      h('input', { type: 'checkbox', checked: all,
        onchange: event => context.go({ ...context.query, all: event.currentTarget.checked ? '1' : undefined }) }),
      tr(' all {0}, also those that do not differ', count(data.jobs, '{0} job|{0} jobs'))),
    table(tr('Jobs'), [
      { title: tr('Job'), cell: r => jobLink(r, data) },
      { title: tr('Other run'), cell: r => statusIn('a', r.status_a, r) },
      { title: tr('This run'), cell: r => statusIn('b', r.status_b, r) },
      { title: tr('Other took'), cell: r => tookIn(r.ms_a, r), class: 'num' },
      { title: tr('This took'), cell: r => tookIn(r.ms_b, r), class: 'num' },
      { title: tr('Usual'), cell: r => duration(r.usual) || null, class: 'num' },
      { title: tr('Attempts'),
        cell: r =>
          r.only_in || r.attempts_a === r.attempts_b ? String(r.attempts_b ?? r.attempts_a) :
            tr('{0}, then {1}', r.attempts_a, r.attempts_b), class: 'num' },
      { title: tr('Input differs at'), cell: r => differingPointers(r.input_differs, r.is_cut), class: 'wide' },
      { title: tr('Output differs at'), cell: r => differingPointers(r.output_differs, r.is_cut), class: 'wide' },
      { title: tr('Error'),
        cell: r =>
          r.error_b ?? r.error_a ?
            [errorName(r.error_b ?? r.error_a), r.error_b ? null : h('small', null, tr(' in the other run'))] : null,
        class: 'wide' },
    ], data.rows, r => r.job_id, tr('No job differs.')),
    data.rows.length < (all ? data.jobs : data.differ) ?
      h('p', { class: 'muted' }, tr('These are the first {0}.', data.rows.length)) : null,
  ];
}

// The timelines of both, of the same scale.
function timelines(data, { leaveFor }) {
  const least = Math.max(...data.times.map(times => times && times.rows.length ? shownTime(times) : 0));
  return [[tr('Timeline of the other run'), data.a, data.times[0]], [tr('Timeline of this run'), data.b, data.times[1]]]
    .map(([words, run, times]) =>
      section(words, {}, timeline(times, () => false, (state, event) => {
        leaveFor(addressOf('execution', run.execution_id, { state, event }));
      }, least),
        times.next ? h('p', { class: 'muted' }, tr('The first rows; the page of the execution has all.')) : null)
    );
}

/**
 * @param {Comparison} data
 * @param {Context} context
 */
export function draw(data, context) {
  return [
    h('div', { class: 'title', key: 'title' },
      h('h1', { tabindex: '-1' }, tr('Compare '), text(context.argument, 'id'))),
    h('div', { class: 'card', key: 'heads' }, executionsTable(data), chooser(data, context)),
    data.a ?
      [section(tr('Jobs that differ'), { count: data.differ }, jobsTable(data, context)), timelines(data, context)] :
      data.problem ? errorNotice(data.problem) :
      notice('late', h('p', null, tr('No run before this one has succeeded. Choose another one to compare it with.'))),
  ];
}
