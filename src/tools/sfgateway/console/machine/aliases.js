// Aliases of the versions of a machine, and how they are changed.

import { onTargets } from '../action/targets.js';
import { call } from '../base/api.js';
import { h } from '../base/dom.js';
import { text } from '../base/values.js';
import { notice } from '../element/blocks.js';
import { button, field } from '../element/controls.js';
import { confirm } from '../element/dialog.js';
import { may } from '../element/rights.js';
import { table } from '../element/table.js';
import { tr } from '../language/texts.js';

/** @import { Content } from '../base/dom.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { MachineData } from './machine.js' */

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
    perform: values => call('set_alias', request(values)),
  });
}

// Ask whether to remove an alias.
function dropAlias(alias, machine) {
  return confirm({ title: tr('Remove {0}?', alias), yes: tr('Remove'), danger: true,
    body: [h('p', null, tr('Starts that name the alias are refused from then on.'))],
    perform: () => onTargets(tr('Removed'), 'drop_alias', [alias], { state_machine: machine }) });
}

/**
 * Aliases, and for the owner how they are changed.
 * @param {MachineData} data
 * @param {Context} context
 * @returns {Content}
 */
export function aliases(data, context) {
  const machine = data.machine.state_machine;
  const isOwner = may(data.rights, machine, 'OWN');
  const names = [...new Set(data.aliases.map(a => a.alias))];
  return names.length === 0 && !isOwner ? null :
    h('div', { key: 'aliases' }, h('h3', null, tr('Aliases')), table(tr('Aliases'), [
      { title: tr('Alias'), cell: r => text(r, 'id') },
      { title: tr('Versions'),
        cell: r =>
          data.aliases.filter(a => a.alias === r).map(a =>
            h('span', { class: 'chip' }, `${a.version}: ${a.percent} %`)
          ) },
      { title: '',
        cell: r =>
          isOwner ? h('div', { class: 'row' }, button(tr('Change…'), () =>
            context.refreshAfter(setAlias(r, data)), { class: 'small', 'aria-label': tr('Change… the alias {0}', r) }),
            button(tr('Remove…'), () =>
              context.refreshAfter(dropAlias(r, machine)), { class: 'small',
              'aria-label': tr('Remove… the alias {0}', r) })) : null },
    ], names, r => r, tr('There is no alias.')),
      isOwner ? h('div', { class: 'row' }, button(tr('New alias…'), () => context.refreshAfter(setAlias(null, data)), {
        class: 'small',
      })) : null);
}
