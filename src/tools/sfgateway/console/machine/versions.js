// The versions of a machine, and what two of them differ in.

import { h } from '../base/dom.js';
import { addressOf } from '../base/links.js';
import { text, time } from '../base/values.js';
import { errorNotice } from '../element/errors.js';
import { excerpt } from '../element/payload.js';
import { badge } from '../element/statuses.js';
import { cutNote, rowKey, table } from '../element/table.js';
import { tr } from '../language/texts.js';
import { aliases } from './aliases.js';

/** @import { Content } from '../base/dom.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { MachineData } from './machine.js' */

// The form that chooses two versions to compare.
function versionChooser(numbers, context) {
  const { query } = context;
  const compare = event => {
    event.preventDefault();
    context.go({ ...query, ...Object.fromEntries(new FormData(event.currentTarget)) });
  };
  const select = (name, chosen) =>
    h('select', { name }, numbers.map(n =>
      h('option', { value: n, selected: String(n) === String(chosen) }, String(n))
    ));
  return h('form', { class: 'row', onsubmit: compare, key: 'compare' }, tr('Compare version '),
    select('a', query.a ?? numbers[1]), tr(' with '), select('b', query.b ?? numbers[0]),
    h('button', { type: 'submit' }, tr('Compare')));
}

// What two versions differ in.
function differences(diff) {
  if (diff.error) return errorNotice(diff.error);
  return [table(tr('Differences'), [
    { title: tr('Where'), cell: r => h('code', null, text(r.pointer || '/')) },
    { title: tr('Change'), cell: r => r.change },
    { title: tr('Before'), cell: r => excerpt(r.before), class: 'wide' },
    { title: tr('After'), cell: r => excerpt(r.after), class: 'wide' },
  ], diff.rows, r => rowKey(r.pointer, r.change), tr('They do not differ.')), cutNote(diff, 'rows')];
}

/**
 * Versions, aliases, and what two versions differ in.
 * @param {MachineData} data
 * @param {Context} context
 * @returns {Content}
 */
export function versionsTab(data, context) {
  const numbers = data.versions.map(v => v.version);
  return [
    table(tr('Versions'), [
      { title: tr('Version'),
        cell: r =>
          h('a', { href: addressOf('machine', context.argument, { version: r.version }) }, String(r.version)) },
      { title: tr('Current'), cell: r => r.is_current ? badge('ok', tr('current')) : null },
      { title: tr('Created'), cell: r => time(r.created_at) },
      { title: tr('Aliases'), cell: r => {
        const chips = data.aliases.filter(a => a.version === r.version).map(a =>
          h('span', { class: 'chip' }, text(a.alias), ` ${a.percent} %`)
        );
        return chips.length ? chips : null;
      } },
    ], data.versions, r => r.version),
    cutNote(data, 'versions'),
    aliases(data, context),
    numbers.length > 1 ? versionChooser(numbers, context) : null,
    data.diff ? differences(data.diff) : null,
  ];
}
