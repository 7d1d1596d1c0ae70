// A form to test a definition, or a change of it, without anything being stored.

import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { text } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { field } from '../element/controls.js';
import { errorNotice } from '../element/errors.js';
import { payload } from '../element/payload.js';
import { SEVERITY, statusBadge } from '../element/statuses.js';
import { cutNote, table } from '../element/table.js';
import { tr } from '../language/texts.js';

/** @import { Content } from '../base/dom.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { MachineData } from './machine.js' */

// Validate a definition: { rows: [{ severity, code, location, message }], cut }.
function validate({ definition }) {
  return call('validate', { definition });
}

// Test a state: { result: a payload }.
function testState({ definition, input, state, mock }) {
  return call('test_state', { definition, input: input || '{}', level: 'DEBUG', ...(state ? { state } : {}),
    ...(mock ? { mock } : {}) });
}

// The form of a definition, a state of it, an input and a mock.
function testForm(data, context, onsubmit) {
  const states = data.layout?.states ?? [];
  return h('form', { onsubmit, class: 'try', key: 'try', same: data.machine.version },
    field(tr('Definition (change it as you like: nothing is stored)'),
      h('textarea', { name: 'definition', rows: '14', spellcheck: 'false', class: 'code' }, data.machine.definition)),
    h('div', { class: 'row' }, h('button', { type: 'submit', value: 'validate' }, tr('Validate'))),
    h('div', { class: 'row' },
      field(tr('State to try'),
        h('select', { name: 'state' },
          states.map(x => h('option', { value: x.name, selected: x.name === context.query.state }, x.name))))),
    h('div', { class: 'halves' },
      field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '4', spellcheck: 'false' }, '{}')),
      field(tr('Mock (JSON; empty: run the task)'), h('textarea', { name: 'mock', rows: '4', spellcheck: 'false' }),
        tr(
          'As {"result": …} or {"errorOutput": {"error": …}}. A SQL task without a mock runs as you, and ' +
            'is rolled back.',
        ))),
    h('div', { class: 'row' }, h('button', { type: 'submit', value: 'test', class: 'primary' }, tr('Try the state'))));
}

// What came of it.
function testResult(outcome) {
  const { error, rows, result } = outcome;
  if (error) return errorNotice(error);
  if (!rows) return payload(tr('Result'), result, {});
  if (rows.length === 0) return notice('ok', h('p', null, tr('The definition is valid.')));
  return [table(tr('Diagnostics'), [
    { title: tr('Severity'), cell: r => statusBadge(SEVERITY, r.severity) },
    { title: tr('Where'), cell: r => h('code', null, text(r.location ?? '')) },
    { title: tr('What'), cell: r => text(r.message), class: 'wide' },
    { title: tr('Code'), cell: r => r.code },
  ], rows, (r, n) => n), cutNote(outcome, 'rows')];
}

/**
 * Validate the definition, and test one state. What came of the last test is kept until the page is left.
 * @param {MachineData} data
 * @param {Context} context
 * @returns {Content}
 */
export function testTab(data, context) {
  const { kept } = context;
  const submit = async event => {
    event.preventDefault();
    const ask = event.submitter.value === 'validate' ? validate : testState;
    const test = ask(Object.fromEntries(new FormData(event.currentTarget)));
    kept.test = test;
    const outcome = await test.catch(error => ({ error }));
    if (kept.test !== test) return;
    kept.outcome = outcome;
    context.redraw();
  };
  return [testForm(data, context, submit),
    h('div', { 'aria-live': 'polite', key: 'result' }, kept.outcome ? testResult(kept.outcome) : null)];
}
