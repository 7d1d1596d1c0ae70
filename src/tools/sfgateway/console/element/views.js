// Views of a list: its filter, order and columns stand in the address, which can be sent to others. Names of views are
// kept in the browser.

import { h, say } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { addressOf } from '../base/links.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';
import { button, field } from './controls.js';

/** @import { Context } from '../frame/pages.js' */
/** @import { Column } from './table.js' */

/**
 * An order of a list.
 * @typedef {object} Sort
 * @property {string} name in the address; '' is that of the answer
 * @property {string} words
 * @property {(row: any) => string | number} [by] what of a row is compared
 */

const VIEWS_KEY = 'sfflow-views';

// The views that this browser has: [{ name, query }].
function readViews() {
  try {
    const list = JSON.parse(localStorage.getItem(VIEWS_KEY) ?? '[]');
    return Array.isArray(list) ? list.filter(v => typeof v?.name === 'string' && v.query) : [];
  } catch {
    return [];
  }
}

// Keep views.
function keepViews(list) {
  localStorage.setItem(VIEWS_KEY, JSON.stringify(list.sort((a, b) => a.name.localeCompare(b.name))));
}

/**
 * The columns that an address names, in the order of the list; without any, the usual ones. The first one of a view is
 * never all that is left out.
 * @param {Context["query"]} query
 * @param {Column<any>[]} all
 * @param {string[]} usual
 * @returns {Column<any>[]}
 */
export function chosenColumns({ columns }, all, usual) {
  const wanted = columns ? columns.split(',') : usual;
  const list = all.filter(column => wanted.includes(column.name));
  return list.length ? list : all.filter(column => usual.includes(column.name));
}

/**
 * The rows of a page in the order that an address names.
 * @template Row
 * @param {Row[]} rows
 * @param {Context["query"]} query
 * @param {Sort[]} sorts
 * @returns {Row[]}
 */
export function sorted(rows, { sort }, sorts) {
  const by = sorts.find(order => order.name === sort)?.by;
  if (!by) return rows;
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  return [...rows].sort((a, b) => compare(by(a), by(b)));
}

// The views that are kept, as links, each with a button that forgets it.
function viewList(list, context) {
  const { query } = context;
  const forget = name => {
    keepViews(readViews().filter(v => v.name !== name));
    say(tr('Forgotten: {0}', name));
    if (query.view === name) context.go({ ...query, view: undefined });
    else context.redraw();
  };
  return h('ul', { class: 'row', 'aria-label': tr('Views'), key: 'kept' },
    list.map(v =>
      h('li', { key: v.name },
        h('a', { class: 'button small', href: addressOf('executions', '', v.query),
          'aria-current': v.name === query.view ? 'true' : null }, text(v.name)), button(icon('close'), () =>
          forget(v.name), { class: 'plain small', 'aria-label': tr('Forget the view {0}', v.name) }))
    ));
}

// The form of the columns, the order and the name.
function viewForm(context, all, usual, sorts) {
  const { query } = context;
  const shown = chosenColumns(query, all, usual).map(column => column.name);
  const chooseColumns = event => {
    const names = new FormData(event.currentTarget.form).getAll('column');
    const isUsual = names.length === usual.length && names.every(name => usual.includes(name));
    context.go({ ...query, columns: isUsual ? undefined : names.join(',') });
  };
  const save = event => {
    event.preventDefault();
    const name = new FormData(event.currentTarget).get('view').trim();
    if (!name) return;
    const { key: _, ...view } = { ...query, view: name };
    keepViews([...readViews().filter(v => v.name !== name), { name, query: view }]);
    say(tr('Kept: {0}', name));
    context.go(view);
  };
  return h('form', { class: 'filters', onsubmit: save, 'aria-label': tr('View'), key: 'view',
    same: JSON.stringify(query) },
    h('fieldset', { class: 'columns' }, h('legend', null, tr('Columns')),
      all.map(({ name, title }) =>
        h('label', null,
          h('input', { type: 'checkbox', name: 'column', value: name, checked: shown.includes(name),
            onchange: chooseColumns }), ' ', title)
      )),
    field(tr('Order of this page'),
      h('select', { name: 'sort', onchange: event => context.go({ ...query, sort: event.currentTarget.value }) },
        sorts.map(({ name, words }) => h('option', { value: name, selected: (query.sort ?? '') === name }, words)))),
    field(tr('Name of the view'),
      h('input', { name: 'view', value: query.view, maxlength: '80', autocomplete: 'off' })),
    h('div', { class: 'row' }, h('button', { type: 'submit' }, tr('Keep this view'))));
}

/**
 * The views that are kept, and the form of the one that is shown. usual: the names of the columns that are shown
 * without a choice.
 * @param {Context} context
 * @param {Column<any>[]} all
 * @param {string[]} usual
 * @param {Sort[]} sorts
 * @returns {HTMLElement}
 */
export function savedViews(context, all, usual, sorts) {
  return h('div', { class: 'views', key: 'views' }, viewList(readViews(), context),
    h('details', { key: 'edit' }, h('summary', null, tr('View: columns, order, name')),
      viewForm(context, all, usual, sorts)));
}
