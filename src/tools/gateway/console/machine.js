// One state machine: its definition beside its picture, its versions, a place to try things, how long its jobs take.

import { call } from './api.js';
import { hold, release, start } from './dialog.js';
import { h } from './dom.js';
import { duration } from './format.js';
import { grid } from './grid.js';
import { heldNotices, heldStates } from './holds.js';
import { deadlines, limits, newLimit } from './limits.js';
import { badge, button, errorNotice, facts, field, hash, may, notice, section, table, tabs, text,
  time } from './parts.js';
import { excerpt, payload } from './payload.js';
import { viewer } from './viewer.js';

export function title({ argument }) {
  return argument;
}

export async function load({ argument: name, query, ask }, before) {
  const version = query.version ? Number(query.version) : undefined;
  const [machine, layout, diff, lastRuns] = await Promise.all([
    ask('machine', { state_machine: name, ...(version ? { version } : {}) }),
    ask('layout', { target: version ? `${name}/${version}` : name }).catch(() => null),
    query.tab === 'versions' && query.a && query.b ?
      ask('diff', { state_machine: name, a: Number(query.a), b: Number(query.b) }).catch(error => ({ error })) : null,
    query.tab === 'runs' ? ask('grid', { state_machine: name }) : before?.lastRuns ?? null,
  ]);
  if (!machine) throw new Error(`State machine "${name}" does not exist, or you may not read it.`);
  return { ...machine, layout, diff, lastRuns };
}

// The lines of a definition; those of the chosen state are marked.
function definition(data, context) {
  const lines = data.machine.definition.split('\n');
  const chosen = context.query.state;
  const [from, to] = chosen ? stateLines(lines, chosen) : [-1, -1];
  return h('pre', { class: 'code', tabindex: '0', 'aria-label': 'Definition', dir: 'ltr', key: 'code',
    same: `${data.machine.version}${chosen}` },
    lines.map((line, n) =>
      h('span', { class: `line${n >= from && n <= to ? ' marked' : ''}`, id: n === from ? 'marked' : null },
        h('bdi', null, line), '\n')
    ));
}

// The first and the last line of a state, by the braces after its name.
function stateLines(lines, name) {
  const key = `${JSON.stringify(name)}:`;
  const from = lines.findIndex(line =>
    line.replace(/\s+:/, ':').includes(`${key} {`) || line.replace(/\s+:/, ':').trimEnd().endsWith(key)
  );
  if (from < 0) return [-1, -1];
  let depth = 0;
  for (let n = from; n < lines.length; n++) {
    for (const c of lines[n].replace(/"(?:[^"\\]|\\.)*"/g, '')) depth += c === '{' ? 1 : c === '}' ? -1 : 0;
    if (depth <= 0 && (n > from || lines[n].includes('}'))) return [from, n];
  }
  return [from, from];
}

// The definition beside the picture.
function both(data, context) {
  return h('div', { class: 'halves' }, definition(data, context),
    data.layout ?
      viewer(data.layout, heldStates(data.held, data.machine.state_machine, data.layout), context.query.state,
        state => {
          context.go({ ...context.query, state });
          requestAnimationFrame(() => document.getElementById('marked')?.scrollIntoView({ block: 'nearest' }));
        }, 'States of the machine', context.state.picture ??= {}, context.redraw) : null);
}

// Versions, aliases, and what two versions differ in.
function versions(data, context) {
  const { query } = context;
  const numbers = data.versions.map(v => v.version);
  const compare = event => {
    event.preventDefault();
    context.go({ ...query, ...Object.fromEntries(new FormData(event.currentTarget)) });
  };
  const select = (name, chosen) =>
    h('select', { name }, numbers.map(n =>
      h('option', { value: n, selected: String(n) === String(chosen) }, String(n))
    ));
  return [
    table('Versions', [
      ['Version', r => h('a', { href: hash.machine(context.argument, { version: r.version }) }, String(r.version))],
      ['Current', r => r.is_current ? badge('SUCCEEDED', 'current') : ''],
      ['Created', r => time(r.created_at)],
      ['Aliases',
        r =>
          data.aliases.filter(a => a.version === r.version).map(a =>
            h('span', { class: 'chip' }, text(a.alias), ` ${a.percent} %`)
          )],
    ], data.versions, r => r.version),
    numbers.length > 1 ?
      h('form', { class: 'row', onsubmit: compare, key: 'compare' }, 'Compare version ',
        select('a', query.a ?? numbers[1]), ' with ', select('b', query.b ?? numbers[0]),
        h('button', { type: 'submit' }, 'Compare')) : null,
    data.diff?.error ? errorNotice(data.diff.error) : data.diff ? table('Differences', [
      ['Where', r => h('code', null, text(r.pointer || '/'))],
      ['Change', r => r.change],
      ['Before', r => excerpt(r.before) ?? '–', 'wide'],
      ['After', r => excerpt(r.after) ?? '–', 'wide'],
    ], data.diff.rows, r => r.pointer + r.change, 'They do not differ.') : null,
  ];
}

// Validate the definition, and try one state.
function trial(data, context) {
  const { state } = context;
  const tryIt = async event => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.currentTarget));
    try {
      state.result = event.submitter.value === 'validate' ?
        { rows: (await call('validate', { definition: values.definition })).rows } :
        await call('test_state', { definition: values.definition, input: values.input || '{}', level: 'DEBUG',
          ...(values.state ? { state: values.state } : {}), ...(values.mock ? { mock: values.mock } : {}) });
    } catch (error) {
      state.result = { error };
    }
    context.redraw();
  };
  return [
    h('form', { onsubmit: tryIt, class: 'try', key: 'try', same: data.machine.version },
      field('Definition (change it as you like: nothing is stored)',
        h('textarea', { name: 'definition', rows: '14', spellcheck: 'false', class: 'code' }, data.machine.definition)),
      h('div', { class: 'row' }, h('button', { type: 'submit', value: 'validate' }, 'Validate')),
      h('div', { class: 'row' },
        field('State to try',
          h('select', { name: 'state' },
            (data.layout?.states ?? []).map(x =>
              h('option', { value: x.name, selected: x.name === context.query.state }, x.name)
            )))),
      h('div', { class: 'halves' },
        field('Input (JSON)', h('textarea', { name: 'input', rows: '4', spellcheck: 'false' }, '{}')),
        field('Mock (JSON; empty: run the task)', h('textarea', { name: 'mock', rows: '4', spellcheck: 'false' }),
          'As {"result": …} or {"errorOutput": {"error": …}}. ' +
            'A SQL task without a mock runs as you, and is rolled back.')),
      h('div', { class: 'row' }, h('button', { type: 'submit', value: 'test', class: 'primary' }, 'Try the state'))),
    h('div', { 'aria-live': 'polite', key: 'result' },
      !state.result ? null :
        state.result.error ? errorNotice(state.result.error) :
        state.result.rows ?
        state.result.rows.length === 0 ? notice('ok', h('p', null, 'The definition is valid.')) : table('Diagnostics', [
          ['Severity', r => badge(r.severity === 'ERROR' ? 'FAILED' : 'TIMED_OUT', r.severity.toLowerCase())],
          ['Where', r => h('code', null, text(r.location ?? ''))],
          ['What', r => text(r.message), 'wide'],
          ['Code', r => r.code],
        ], state.result.rows, (r, n) => n) : payload('Result', state.result.result, {})),
  ];
}

export function draw(data, context) {
  const { machine } = data;
  const held = data.held.find(x => x.target === machine.state_machine && !x.state);
  const mayStart = may(data.rights, machine.state_machine, 'START');
  const mayOperate = may(data.rights, machine.state_machine, 'OPERATE');
  const targets = [machine.state_machine,
    ...(data.layout?.states ?? []).map(x => `${machine.state_machine}/${x.name}`)];
  const list = [
    ['definition', 'Definition', () => both(data, context)],
    ['versions', 'Versions', () => versions(data, context)],
    ['try', 'Try', () => trial(data, context)],
    ['runs', 'Last runs',
      () =>
        data.lastRuns ? grid(data.lastRuns, machine.state_machine, context.state.grid ??= {}) :
          h('p', { class: 'muted' }, 'Loading…')],
    ['times', 'Times of jobs', () =>
      table('Times of jobs', [
        ['Job', r => text(r.job_id)],
        ['Runs', r => String(r.runs), 'num'],
        ['Failures', r => r.failures > 0 ? badge('FAILED', String(r.failures)) : '0', 'num'],
        ['Recent median', r => duration(r.recent_ms_p50) || '–', 'num'],
        ['Recent 95 %', r => duration(r.recent_ms_p95) || '–', 'num'],
        ['This week', r => duration(r.week_ms_p50) || '–', 'num'],
        ['The week before', r => duration(r.previous_week_ms_p50) || '–', 'num'],
      ], data.times, r => r.job_id, 'No job has run.')],
  ];
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(machine.state_machine, 'id')),
      h('span', { class: 'muted' }, `version ${machine.version}${machine.is_current ? '' : ' (not the current one)'}`),
      held ? badge('HELD') : null,
      h('div', { class: 'row actions', role: 'group', 'aria-label': 'Actions' },
        mayStart ? button('Start…', async () => {
          const made = await start(
            machine.is_current ? machine.state_machine : `${machine.state_machine}/${machine.version}`,
          );
          if (made) location.hash = hash.execution(made.execution_id);
        }, { class: 'primary' }) : null,
        !mayOperate ? null :
          held ? button('Release…', () => context.act(release(held))) :
          button('Hold…', () => context.act(hold([machine.state_machine]))),
        h('a', { class: 'button', href: hash.executions({ state_machine: machine.state_machine }) }, 'Executions'))),
    h('div', { key: 'facts' },
      facts([['Owner', text(machine.owner)], ['Created', time(machine.created_at)], ['Name from',
        machine.execution_id_path ? h('code', null, text(machine.execution_id_path)) : null], ['Options',
        Object.keys(machine.options ?? {}).length ? h('code', null, JSON.stringify(machine.options)) : null]])),
    data.deadlines?.length ? section('Deadlines', {}, deadlines(data.deadlines)) : null,
    heldNotices(data.held.filter(x => x.state || x.target === machine.state_machine), mayOperate, context.reload),
    data.limits && (data.limits.length || mayOperate) ?
      section('Limits', {}, limits(data.limits, context.reload),
        !mayOperate ? null : h('div', { class: 'row' }, newLimit(context.reload, targets))) : null,
    h('div', { class: 'card', key: 'tabs' },
      tabs('Views', list, context.query.tab ?? 'definition', tab => context.go({ ...context.query, tab }))),
  ];
}
