// The question for a schedule that is made or changed, and what a schedule can be told to do.

import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { clock, distance } from '../base/format.js';
import { choice, field } from '../element/controls.js';
import { confirm, prepare } from '../element/dialog.js';
import { may } from '../element/rights.js';
import { tr } from '../language/texts.js';

/** @import { Doc } from '../base/format.js' */
/** @import { Calendar } from './calendars.js' */

/**
 * A schedule; the words of schedule are those of cron, on_closed, missed and overlap are as below.
 * @typedef {object} Schedule
 * @property {string} schedule_name
 * @property {string} schedule
 * @property {string} timezone
 * @property {string | null} given_timezone
 * @property {string} state_machine
 * @property {Doc} input
 * @property {string | null} calendar
 * @property {string} on_closed
 * @property {string} missed
 * @property {string} overlap
 * @property {string | null} starts
 * @property {string | null} ends
 * @property {string} owner
 * @property {string} state and in problem, what keeps it from running
 * @property {string | null} problem
 * @property {string | null} next_run
 * @property {string | null} last_execution_id
 * @property {boolean} may_edit
 * @property {boolean} held
 */

// What a schedule can be told to do: [value, words].
export const ON_CLOSED = [
  ['skip', tr('leave the run out')],
  ['previous', tr('run on the open day before')],
  ['next', tr('run on the open day after')],
  ['run', tr('run all the same')],
];
export const MISSED = [
  ['run_once', tr('the latest one runs')],
  ['run_all', tr('all of them run')],
  ['skip', tr('none runs, with an alert')],
];
export const OVERLAP = [['skip', tr('leave it out')], ['queue', tr('have it wait')], ['parallel',
  tr('start it beside')]];

// A time for a field: in the time zone of the browser, up to the second.
function forField(at) {
  return at ? new Date(new Date(at) - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 19) : undefined;
}

// The time of a field as a request has it; one that is as it was keeps what the field does not show.
function momentOf(value, before) {
  if (!value) return '';
  return before && Number(new Date(value)) === Number(new Date(forField(before))) ? before :
    new Date(value).toISOString();
}

// The values of the form as a request: times with their zone.
function asRequest(values, schedule) {
  return { ...values, starts: momentOf(values.starts, schedule?.starts), ends: momentOf(values.ends, schedule?.ends) };
}

// A field for a time.
function momentField(label, name, at) {
  return field(label, h('input', { name, type: 'datetime-local', step: '1', value: forField(at) }));
}

// The fields of a schedule; `machines` can be started.
function scheduleFields(schedule, calendars, machines) {
  const values = schedule ??
    { on_closed: 'skip', missed: 'run_once', overlap: 'skip', input: { text: '{}' },
      given_timezone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  return [
    field(tr('Name'),
      h('input', { name: 'name', required: true, maxlength: '80', autocomplete: 'off', value: schedule?.schedule_name,
        readonly: Boolean(schedule), autofocus: !schedule })),
    field(tr('State machine'),
      h('input', { name: 'state_machine', required: true, list: 'startable', autocomplete: 'off',
        value: values.state_machine }), tr('Or a version, as nightly/3.')),
    h('datalist', { id: 'startable' }, machines.map(name => h('option', { value: name }))),
    h('div', { class: 'pair' },
      field(tr('When'),
        h('input', { name: 'schedule', required: true, spellcheck: 'false', autocomplete: 'off', value: values.schedule,
          autofocus: Boolean(schedule) }), tr('Minute, hour, day, month, weekday: 0 2 * * *')),
      field(tr('Time zone'),
        h('input', { name: 'timezone', autocomplete: 'off', value: values.given_timezone,
          placeholder: schedule?.timezone }), tr('Empty: that of pg_cron'))),
    h('div', { class: 'pair' },
      choice(tr('Calendar'), 'calendar', [['', tr('every day')], ...calendars.map(c => c.calendar)],
        values.calendar ?? ''), choice(tr('On a closed day'), 'on_closed', ON_CLOSED, values.on_closed)),
    h('div', { class: 'pair' }, choice(tr('Runs that did not come'), 'missed', MISSED, values.missed),
      choice(tr('While the run before still runs'), 'overlap', OVERLAP, values.overlap)),
    h('div', { class: 'pair' }, momentField(tr('Not before'), 'starts', values.starts),
      momentField(tr('Not after'), 'ends', values.ends)),
    values.input.cut ? h('p', { class: 'muted' }, tr('Its input is long and stays as it is.')) :
      field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '3', spellcheck: 'false' }, values.input.text),
        tr('Placeholders such as <sfflow.scheduled-date> are filled in at each run.')),
  ];
}

// The next times that a schedule would have.
async function previewSchedule(values, schedule) {
  if (!values.name || !values.schedule || !values.state_machine)
    return h('p', { class: 'muted' }, tr('With a name, a state machine and an expression, the next runs show here.'));
  const { times } = await call('plan_schedule', asRequest(values, schedule));
  return h('div', null, h('strong', null, times.length ? tr('It will run:') : tr('It never runs.')),
    h('ul', { class: 'names' },
      times.map(t => h('li', null, clock(t.scheduled_for), h('small', null, ` ${distance(t.scheduled_for)}`)))));
}

/**
 * Make a schedule, or change one.
 * @param {Schedule | null} schedule
 * @param {Calendar[]} calendars
 * @returns {Promise<any>}
 */
export async function editSchedule(schedule, calendars) {
  const { rows, rights } = await prepare(call('machines', { limit: 200 }));
  const machines = rows.map(m => m.state_machine).filter(name => may(rights, name, 'START'));
  return confirm({
    title: schedule ? tr('Edit {0}', schedule.schedule_name) : tr('New schedule'),
    yes: tr('Save'),
    fields: scheduleFields(schedule, calendars, machines),
    preview: values => previewSchedule(values, schedule),
    perform: values => call('set_schedule', { ...asRequest(values, schedule), new: !schedule }),
  });
}

// What a value means, of a list of [value, words].
export function wordsFor(list, value) {
  return list.find(([v]) => v === value)?.[1];
}
