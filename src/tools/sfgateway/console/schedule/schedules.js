// Schedules, and their calendars: what each schedule starts and when, as a calendar of months.

import { hold, release } from '../action/actions.js';
import { onTargets } from '../action/targets.js';
import { h } from '../base/dom.js';
import { distance, duration, machineOf } from '../base/format.js';
import { icon } from '../base/icons.js';
import { addressOf, executionLink, machineLink } from '../base/links.js';
import { text, time } from '../base/values.js';
import { facts, loading, section } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { errorName, errorNotice } from '../element/errors.js';
import { pager } from '../element/pager.js';
import { excerpt } from '../element/payload.js';
import { heldBadge, SCHEDULE, SCHEDULE_RUN, statusBadge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { calendarsPart } from './calendars.js';
import { monthStart, monthTable } from './month.js';
import { editSchedule, MISSED, ON_CLOSED, OVERLAP, wordsFor } from './schedule_form.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { Calendar } from './calendars.js' */
/** @import { Schedule } from './schedule_form.js' */

/**
 * The schedule that the address names, in a month, or why it could not be asked for.
 * @typedef {object} OneSchedule
 * @property {string} name
 * @property {Error} [error]
 * @property {number} [offset] the month, so many from now
 * @property {Schedule} [schedule]
 * @property {{ scheduled_for: string, local_time: string }[]} [times]
 * @property {string[]} [closed] days
 * @property {{ scheduled_for: string, status: string, error: string | null, execution_id: string | null,
 *   ended_at: string | null, took: number | null }[]} [runs]
 */

/**
 * The data of the page: what `schedules` answers, and the one of the address.
 * @typedef {object} SchedulesData
 * @property {Schedule[]} rows
 * @property {string | null} next the name after which the next page begins
 * @property {Calendar[]} calendars
 * @property {boolean} may_create
 * @property {OneSchedule | null} one
 */

export function title() {
  return tr('Schedules');
}

// How many months from now an address shows.
function monthOf(query) {
  return Number(query.month ?? 0) || 0;
}

// What is known of a schedule in a month, or an error.
function loadSchedule(ask, name, offset) {
  const day = 86400000;
  return ask('schedule', { name, from: new Date(monthStart(offset).getTime() - day).toISOString(),
    to: new Date(monthStart(offset + 1).getTime() + day).toISOString() }).then(found => ({ name, offset, ...found }),
      error => ({ name, error }));
}

export async function load({ ask, query }) {
  const [list, one] = await Promise.all([ask('schedules', query.after ? { after: query.after } : {}),
    query.name ? loadSchedule(ask, query.name, monthOf(query)) : null]);
  return { ...list, one };
}

// Ask whether to remove a schedule; the page goes on without it.
async function removeSchedule(name, { query, go }) {
  const removed = await confirm({ title: tr('Remove {0}?', name), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('It starts nothing any more. Executions that it started stay.'))],
    perform: () => onTargets(tr('Removed'), 'unschedule', [name], {}) });
  if (removed) go({ after: query.after });
}

// What can be done with a schedule.
function scheduleButtons(schedule, data, context) {
  const name = schedule.schedule_name;
  const target = `schedule:${name}`;
  return h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
    button(tr('Edit…'), () => context.refreshAfter(editSchedule(schedule, data.calendars))),
    schedule.held ? button(tr('Release…'), () => context.refreshAfter(release({ target }))) :
      button(tr('Hold…'), () => context.refreshAfter(hold([target]))),
    button(tr('Remove…'), () => context.refreshAfter(removeSchedule(name, context))));
}

// What a schedule is told to do.
function scheduleFacts(schedule) {
  return facts([
    [tr('Owner'), text(schedule.owner)],
    [tr('When'), [h('code', null, text(schedule.schedule)), tr(' in {0}', schedule.timezone)]],
    [tr('Calendar'),
      schedule.calendar ?
        [text(schedule.calendar), h('small', null, tr(' closed day: {0}', wordsFor(ON_CLOSED, schedule.on_closed)))] :
        null],
    [tr('Runs that did not come'), wordsFor(MISSED, schedule.missed)],
    [tr('While the run before still runs'), wordsFor(OVERLAP, schedule.overlap)],
    [tr('Not before'), schedule.starts ? time(schedule.starts) : null],
    [tr('Not after'), schedule.ends ? time(schedule.ends) : null],
  ]);
}

// A month of a schedule, and the buttons that lead to others.
function monthPart(one, schedule, context) {
  const { query } = context;
  const move = n => context.go({ ...query, month: String(monthOf(query) + n) });
  return [
    h('div', { class: 'row' }, button(tr('Earlier'), () => move(-1)),
      button(tr('This month'), () => context.go({ ...query, month: undefined })),
      button([tr('Later '), icon('next')], () => move(1)),
      schedule ? h('span', { class: 'muted' }, tr('Times in {0}', schedule.timezone)) : null),
    one ? monthTable(one) : loading(),
    one ? cutNote(one, 'times') : null,
  ];
}

// The schedule that the address names.
function chosenSchedule(data, context) {
  const { name } = context.query;
  if (!name) return null;
  const one = data.one?.name === name ? data.one : null; // else that of the former address
  const schedule = one?.schedule;
  if (one?.error) return section(name, {}, errorNotice(one.error));
  return section(name, { key: 'chosen' }, schedule?.may_edit ? scheduleButtons(schedule, data, context) : null,
    schedule ? scheduleFacts(schedule) : null, monthPart(one, schedule, context), h('h3', null, tr('Last runs')),
    table(tr('Last runs'), [
      { title: tr('For'), cell: r => time(r.scheduled_for) },
      { title: tr('Status'), cell: r => statusBadge(SCHEDULE_RUN, r.status) },
      { title: tr('Execution'), cell: r => r.execution_id ? executionLink(r.execution_id) : null },
      { title: tr('Took'), cell: r => r.ended_at && r.took !== null ? duration(r.took) : null },
      { title: tr('Error'), cell: r => r.error ? errorName(r.error) : null, class: 'wide' },
    ], one?.runs ?? [], (r, n) => `${r.scheduled_for}${n}`, tr('It has not run yet.')),
    one ? cutNote(one, 'runs') : null);
}

/**
 * @param {SchedulesData} data
 * @param {Context} context
 */
export function draw(data, context) {
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, tr('Schedules')),
      !data.may_create ? null :
        h('div', { class: 'row actions' },
          button(tr('New schedule…'), () => context.refreshAfter(editSchedule(null, data.calendars))))),
    h('div', { class: 'card', key: 'list' }, table(tr('Schedules'), [
      { title: tr('Schedule'),
        cell: r =>
          h('a', { href: addressOf('schedules', '', { after: context.query.after, name: r.schedule_name }),
            'aria-current': r.schedule_name === context.query.name ? 'true' : null }, text(r.schedule_name)) },
      { title: tr('State'),
        cell:
          r => [statusBadge(SCHEDULE, r.state), r.held ? [' ', heldBadge()] : null,
            r.problem ? text(r.problem, 'muted') : null] },
      { title: tr('Starts'), cell: r => machineLink(machineOf(r.state_machine)) },
      { title: tr('When'), cell: r => [h('code', null, text(r.schedule)), ' ', h('small', null, text(r.timezone))] },
      { title: tr('Next'),
        cell: r => r.next_run ? [time(r.next_run), ' ', h('small', null, distance(r.next_run))] : null },
      { title: tr('Last'), cell: r => r.last_execution_id ? executionLink(r.last_execution_id) : null },
      { title: tr('Input'), cell: r => excerpt(r.input), class: 'wide' },
    ], data.rows, r => r.schedule_name,
      tr(
        "There is no schedule that you may see. Roles with START on a machine, and USAGE on pg_cron's " +
          'schema, make them.',
      ))),
    pager(tr('Pages of schedules'), context, 'after', data.next),
    chosenSchedule(data, context),
    calendarsPart(data, context),
  ];
}
