// One state machine: its definition beside its picture, its versions, a place to try things, how long its jobs take.

import { call } from './api.js';
import { confirm, hold, onTargets, release, start } from './dialog.js';
import { h } from './dom.js';
import { duration } from './format.js';
import { grid } from './grid.js';
import { heldNotices, heldStates } from './holds.js';
import { printJson, readJson } from './json.js';
import { deadlines, limits, newLimit } from './limits.js';
import { badge, button, errorNotice, facts, field, hash, may, notice, section, table, tabs, text,
  time } from './parts.js';
import { excerpt, payload } from './payload.js';
import { tr } from './texts.js';
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
  if (!machine) throw new Error(tr('State machine "{0}" does not exist, or you may not read it.', name));
  return { ...machine, layout, diff, lastRuns };
}

// The text of a definition: formatted, unless it is wanted as it was written, or is too long for that.
function definitionText(written, context) {
  const tree = context.query.as === 'written' ? null : readJson(written, 100000);
  return tree === null ? written : printJson(tree);
}

// The lines of a definition; those of the chosen state are marked.
function definition(data, context) {
  const lines = definitionText(data.machine.definition, context).split('\n');
  const chosen = context.query.state;
  const [from, to] = chosen ? stateLines(lines, chosen) : [-1, -1];
  return h('pre', { class: 'code', tabindex: '0', 'aria-label': tr('Definition'), dir: 'ltr', key: 'code',
    same: `${data.machine.version}${chosen}${context.query.as}` },
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
  const isWritten = context.query.as === 'written';
  return h('div', { class: 'halves' },
    h('div', { key: 'text' },
      button(tr('As it was written'), () => context.go({ ...context.query, as: isWritten ? undefined : 'written' }), {
        class: 'small',
        'aria-pressed': String(isWritten),
      }), definition(data, context)),
    data.layout ?
      viewer(data.layout, heldStates(data.held, data.machine.state_machine, data.layout), context.query.state,
        state => {
          context.go({ ...context.query, state });
          requestAnimationFrame(() => document.getElementById('marked')?.scrollIntoView({ block: 'nearest' }));
        }, tr('States of the machine'), context.state.picture ??= {}, context.redraw) : null);
}

// Give versions an alias, or change which ones have it: the question shows what it would be.
function setAlias(alias, data) {
  const machine = data.machine.state_machine;
  const now = alias && Object.fromEntries(data.aliases.filter(a => a.alias === alias).map(a => [a.version, a.percent]));
  const request = values => ({ state_machine: machine, alias: alias ?? values.alias, versions: values.versions });
  return confirm({
    title: alias ? tr('Change the alias {0}?', alias) : tr('New alias'),
    yes: alias ? tr('Change') : tr('Set'),
    body: [
      h('p', { class: 'muted' },
        tr('Starts that name the alias go to its versions from then on. What runs stays with its version.')),
    ],
    fields: [
      alias ? null :
        field(tr('Name'),
          h('input', { name: 'alias', required: true, maxlength: '80', autocomplete: 'off', autofocus: true })),
      field(tr('Versions and their shares in percent (JSON)'),
        h('input', { name: 'versions', required: true, spellcheck: 'false', autocomplete: 'off',
          autofocus: Boolean(alias), value: JSON.stringify(now ?? { [data.machine.version]: 100 }) }),
        '{"3": 90, "4": 10}'),
    ],
    preview: async values => {
      if (!request(values).alias) return h('p', { class: 'muted' }, tr('With a name, what it would be shows here.'));
      const { rows } = await call('plan_alias', request(values));
      return notice('ok',
        rows.map(r =>
          h('p', null, tr('{0} of 100 starts: version {1}', r.percent, r.version),
            now ? h('span', { class: 'muted' }, tr(' (now {0})', now[r.version] ?? 0)) : null)
        ));
    },
    act: values => call('set_alias', request(values)),
  });
}

// Ask whether to remove an alias.
function dropAlias(alias, machine) {
  return confirm({ title: tr('Remove {0}?', alias), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('Starts that name the alias are refused from then on.'))],
    act: () => onTargets(tr('Removed'), 'drop_alias', [alias], { state_machine: machine }) });
}

// Aliases, and for the owner how they are changed.
function aliases(data, context) {
  const machine = data.machine.state_machine;
  const isOwner = may(data.rights, machine, 'OWN');
  const names = [...new Set(data.aliases.map(a => a.alias))];
  return names.length === 0 && !isOwner ? null :
    h('div', { key: 'aliases' }, h('h3', null, tr('Aliases')), table(tr('Aliases'), [
      [tr('Alias'), r => text(r, 'id')],
      [tr('Versions'),
        r =>
          data.aliases.filter(a => a.alias === r).map(a =>
            h('span', { class: 'chip' }, `${a.version}: ${a.percent} %`)
          )],
      ['',
        r =>
          isOwner ? h('div', { class: 'row' }, button(tr('Change…'), () =>
            context.act(setAlias(r, data)), { class: 'small', 'aria-label': tr('Change… the alias {0}', r) }),
            button(tr('Remove…'), () =>
              context.act(dropAlias(r, machine)), { class: 'small', 'aria-label': tr('Remove… the alias {0}', r) })) :
            '–'],
    ], names, r => r, tr('There is no alias.')),
      isOwner ? h('div', { class: 'row' }, button(tr('New alias…'), () => context.act(setAlias(null, data)), {
        class: 'small',
      })) : null);
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
    table(tr('Versions'), [
      [tr('Version'), r => h('a', { href: hash.machine(context.argument, { version: r.version }) }, String(r.version))],
      [tr('Current'), r => r.is_current ? badge('SUCCEEDED', tr('current')) : ''],
      [tr('Created'), r => time(r.created_at)],
      [tr('Aliases'),
        r =>
          data.aliases.filter(a => a.version === r.version).map(a =>
            h('span', { class: 'chip' }, text(a.alias), ` ${a.percent} %`)
          )],
    ], data.versions, r => r.version),
    aliases(data, context),
    numbers.length > 1 ?
      h('form', { class: 'row', onsubmit: compare, key: 'compare' }, tr('Compare version '),
        select('a', query.a ?? numbers[1]), tr(' with '), select('b', query.b ?? numbers[0]),
        h('button', { type: 'submit' }, tr('Compare'))) : null,
    data.diff?.error ? errorNotice(data.diff.error) : data.diff ? table(tr('Differences'), [
      [tr('Where'), r => h('code', null, text(r.pointer || '/'))],
      [tr('Change'), r => r.change],
      [tr('Before'), r => excerpt(r.before) ?? '–', 'wide'],
      [tr('After'), r => excerpt(r.after) ?? '–', 'wide'],
    ], data.diff.rows, r => r.pointer + r.change, tr('They do not differ.')) : null,
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
      field(tr('Definition (change it as you like: nothing is stored)'),
        h('textarea', { name: 'definition', rows: '14', spellcheck: 'false', class: 'code' }, data.machine.definition)),
      h('div', { class: 'row' }, h('button', { type: 'submit', value: 'validate' }, tr('Validate'))),
      h('div', { class: 'row' },
        field(tr('State to try'),
          h('select', { name: 'state' },
            (data.layout?.states ?? []).map(x =>
              h('option', { value: x.name, selected: x.name === context.query.state }, x.name)
            )))),
      h('div', { class: 'halves' },
        field(tr('Input (JSON)'), h('textarea', { name: 'input', rows: '4', spellcheck: 'false' }, '{}')),
        field(tr('Mock (JSON; empty: run the task)'), h('textarea', { name: 'mock', rows: '4', spellcheck: 'false' }),
          tr(
            'As {"result": …} or {"errorOutput": {"error": …}}. A SQL task without a mock runs as you, and ' +
              'is rolled back.',
          ))),
      h('div', { class: 'row' },
        h('button', { type: 'submit', value: 'test', class: 'primary' }, tr('Try the state')))),
    h('div', { 'aria-live': 'polite', key: 'result' },
      !state.result ? null :
        state.result.error ? errorNotice(state.result.error) :
        state.result.rows ?
        state.result.rows.length === 0 ? notice('ok', h('p', null, tr('The definition is valid.'))) :
          table(tr('Diagnostics'), [
            [tr('Severity'), r => badge(r.severity === 'ERROR' ? 'FAILED' : 'TIMED_OUT', r.severity.toLowerCase())],
            [tr('Where'), r => h('code', null, text(r.location ?? ''))],
            [tr('What'), r => text(r.message), 'wide'],
            [tr('Code'), r => r.code],
          ], state.result.rows, (r, n) => n) : payload(tr('Result'), state.result.result, {})),
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
    ['definition', tr('Definition'), () => both(data, context)],
    ['versions', tr('Versions'), () => versions(data, context)],
    ['try', tr('Try'), () => trial(data, context)],
    ['runs', tr('Last runs'),
      () =>
        data.lastRuns ? grid(data.lastRuns, machine.state_machine, context.state.grid ??= {}) :
          h('p', { class: 'muted' }, tr('Loading…'))],
    ['times', tr('Times of jobs'), () =>
      table(tr('Times of jobs'), [
        [tr('Job'), r => text(r.job_id)],
        [tr('Runs'), r => String(r.runs), 'num'],
        [tr('Failures'), r => r.failures > 0 ? badge('FAILED', String(r.failures)) : '0', 'num'],
        [tr('Recent median'), r => duration(r.recent_ms_p50) || '–', 'num'],
        [tr('Recent 95 %'), r => duration(r.recent_ms_p95) || '–', 'num'],
        [tr('This week'), r => duration(r.week_ms_p50) || '–', 'num'],
        [tr('The week before'), r => duration(r.previous_week_ms_p50) || '–', 'num'],
      ], data.times, r => r.job_id, tr('No job has run.'))],
  ];
  return [
    h('div', { class: 'title', key: 'title' }, h('h1', { tabindex: '-1' }, text(machine.state_machine, 'id')),
      h('span', { class: 'muted' },
        tr('version {0}{1}', machine.version, machine.is_current ? '' : tr(' (not the current one)'))),
      held ? badge('HELD') : null,
      h('div', { class: 'row actions', role: 'group', 'aria-label': tr('Actions') },
        mayStart ? button(tr('Start…'), async () => {
          const made = await start(
            machine.is_current ? machine.state_machine : `${machine.state_machine}/${machine.version}`,
          );
          if (made) location.hash = hash.execution(made.execution_id);
        }, { class: 'primary' }) : null,
        !mayOperate ? null :
          held ? button(tr('Release…'), () => context.act(release(held))) :
          button(tr('Hold…'), () => context.act(hold([machine.state_machine]))),
        h('a', { class: 'button', href: hash.executions({ state_machine: machine.state_machine }) },
          tr('Executions')))),
    h('div', { key: 'facts' },
      facts([[tr('Owner'), text(machine.owner)], [tr('Created'), time(machine.created_at)], [tr('Name from'),
        machine.execution_id_path ? h('code', null, text(machine.execution_id_path)) : null], [tr('Options'),
        Object.keys(machine.options ?? {}).length ? h('code', null, JSON.stringify(machine.options)) : null]])),
    data.deadlines?.length ? section(tr('Deadlines'), {}, deadlines(data.deadlines)) : null,
    heldNotices(data.held.filter(x => x.state || x.target === machine.state_machine), mayOperate, context.reload),
    data.limits && (data.limits.length || mayOperate) ?
      section(tr('Limits'), {}, limits(data.limits, context.reload),
        !mayOperate ? null : h('div', { class: 'row' }, newLimit(context.reload, targets))) : null,
    h('div', { class: 'card', key: 'tabs' },
      tabs(tr('Views'), list, context.query.tab ?? 'definition', tab => context.go({ ...context.query, tab }))),
  ];
}
