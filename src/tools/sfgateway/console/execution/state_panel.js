// What the page of an execution shows of the state that is chosen: payloads, error, attempts, events, and what can be
// done with it.

import { hold, mark } from '../action/actions.js';
import { redriveOne } from '../action/redrive.js';
import { h } from '../base/dom.js';
import { between, clock, duration, readCause } from '../base/format.js';
import { icon } from '../base/icons.js';
import { addressOf } from '../base/links.js';
import { text, time } from '../base/values.js';
import { facts, loading, notice } from '../element/blocks.js';
import { button } from '../element/controls.js';
import { causeLines, errorName, errorNotice } from '../element/errors.js';
import { payload } from '../element/payload.js';
import { may } from '../element/rights.js';
import { JOB, statusBadge } from '../element/statuses.js';
import { isCut } from '../element/table.js';
import { tr } from '../language/texts.js';
import { eventList } from './events.js';
import { compareToKnown } from './timeline.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { ExecutionData } from './execution.js' */

// In the address instead of a state: the panel was closed.
export const NO_STATE = '-';

// What is known of the last visit of the state that is chosen.
function stateFacts(name, state, spans, last) {
  const took = last && between(last.started_at, last.stopped_at);
  return facts([
    state.chosen && state.chosen.job_id !== name ? [tr('Job'), text(state.chosen.job_id)] : null,
    last ? [tr('Began'), time(spans[0].started_at)] : null,
    last ? [tr('Took'), [duration(took), h('small', null, ` ${compareToKnown(took, state.usual)}`)]] : null,
    state.job ? [tr('Attempts'), String(state.job.attempts)] : null,
  ]);
}

// The error of the state that is chosen.
function stateError(job, last) {
  if (!job?.error) return null;
  return h('div', null,
    notice(last?.status === 'success' ? 'late' : 'bad', h('p', null, errorName(job.error)),
      causeLines(readCause(job.cause))));
}

// The buttons of the state that is chosen.
function stateActions(name, data, drawn, context) {
  const id = context.argument;
  const status = data.head.execution.status;
  const { job, chosen } = data.state;
  if (!may(data.head.rights, id, 'OPERATE')) return null;
  const small = (words, ask) => button(words, () => context.refreshAfter(ask()), { class: 'small' });
  return h('div', { class: 'row', role: 'group', 'aria-label': tr('Actions on the state') },
    status !== 'RUNNING' && drawn && drawn.parent === undefined ?
      small(tr('Redrive from here…'), () => redriveOne(id, name)) : null,
    job && status !== 'SUCCEEDED' ? small(tr('Mark…'), () => mark(id, chosen?.job_id ?? name)) : null,
    status !== 'SUCCEEDED' ? small(tr('Hold this state…'), () => hold([id], name)) : null);
}

// The visits of the state that is chosen, with links to their events.
function visitList(state, last, context) {
  const { visits } = state;
  if (visits.length < 2) return null;
  const visit = v =>
    h('li', { key: v.first_event },
      h('a', { href: addressOf('execution', context.argument, { ...context.query, event: v.first_event }),
        'aria-current': v === last ? 'true' : null }, statusBadge(JOB, v.status, text(v.job_id)),
        h('span', { class: 'muted' }, tr(' visit {0}, attempt {1} · ', v.visit, v.attempt), clock(v.started_at), ' · ',
          duration(between(v.started_at, v.stopped_at)))));
  return h('details', { open: visits.length < 12 },
    h('summary', null,
      tr('Visits and attempts ({0}{1})', visits.length, isCut(state, 'visits') ? tr(', the last ones') : '')),
    h('ul', { class: 'visits' }, visits.map(visit)));
}

/**
 * The panel of the state of a name; without one, how to choose one.
 * @param {string | undefined} name
 * @param {ExecutionData} data
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function statePanel(name, data, context) {
  if (!name)
    return h('div', { class: 'card side none', key: 'side' },
      h('p', null, tr('Choose a state in the picture or in the timeline to see its input, output, error and events.')));
  const close = button(icon('close'), () => context.go({ ...context.query, state: NO_STATE, event: undefined }), {
    class: 'plain',
    'aria-label': tr('Close the state'),
  });
  const head = h('div', { class: 'side-head' }, h('h2', { id: 'h-state' }, text(name)), close);
  const box = (...parts) =>
    h('section', { class: 'card side', key: `side-${name}`, 'aria-labelledby': 'h-state' }, head, parts);
  if (!data.state || data.state.name !== name) return box(loading());
  if (data.state.error) return box(errorNotice(data.state.error));
  const { job, visits, chosen, input, output, events } = data.state;
  const drawn = data.layout?.states.find(x => x.name === name);
  const spans = visits.filter(v => chosen && v.job_id === chosen.job_id && v.visit === chosen.visit);
  const last = spans[spans.length - 1];
  const status = last?.status ?? data.head.states.find(x => x.name === name)?.status ?? 'unknown';
  const whole = (value, member) => ({ execution_id: context.argument, what: 'event', event: value?.event, member });
  return box(
    h('p', { class: 'row' }, statusBadge(JOB, status),
      h('span', { class: 'muted' }, drawn?.subtitle ? text(drawn.subtitle) : null)),
    stateFacts(name, data.state, spans, last),
    stateError(job, last),
    payload(tr('Input'), input, whole(input, 'input')),
    payload(tr('Output'), output, whole(output, 'output')),
    stateActions(name, data, drawn, context),
    visitList(data.state, last, context),
    events.length ?
      h('details', null,
        h('summary', null,
          tr('Events ({0}{1})', events.length, isCut(data.state, 'events') ? tr(', the first ones') : '')),
        eventList(events, context.argument)) : null,
  );
}
