// Tables, which a narrow window shows as lists.

import { h } from '../base/dom.js';
import { tr } from '../language/texts.js';

// A table: a column is { title, cell, class }, whose cell makes the content for a row. That is null where there is
// nothing, and a column of such cells is left out. In a narrow window each row is a list of its cells.
export function table(caption, all, rows, keyOf, none = tr('None.')) {
  if (rows.length === 0) return h('p', { class: 'none' }, none);
  const cells = rows.map((row, n) => all.map(column => column.cell(row, n)));
  const used = all.map((_, n) => n).filter(n => cells.some(row => !isNothing(row[n])));
  const columns = used.map(n => all[n]);
  return h('table', { role: 'table' }, h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' },
      h('tr', { role: 'row' },
        columns.map(column =>
          h('th', { scope: 'col', role: 'columnheader', class: column.class ?? '' }, headOf(column.title))
        ))),
    h('tbody', { role: 'rowgroup' },
      rows.map((row, n) =>
        h('tr', { role: 'row', key: keyOf ? keyOf(row) : n }, used.map(c =>
          tableCell(all[c].title, cells[n][c], all[c].class)
        ))
      )));
}

// The head of a column; that of buttons is only read aloud.
function headOf(title) {
  if (typeof title !== 'string') return title();
  return title === '' ? h('span', { class: 'unseen' }, tr('Actions')) : title;
}

// Whether a cell has nothing.
function isNothing(content) {
  return content === null || content === undefined;
}

// A cell of a table; one that has nothing is left out in a narrow window, and has no dash where buttons would be.
function tableCell(title, content, more = '') {
  return h('td', { role: 'cell', class: `${more}${isNothing(content) ? ' dash' : ''}`,
    'data-label': typeof title === 'string' ? title : '' }, h('div', null, content ?? (title === '' ? null : '–')));
}

// Whether an answer leaves rows of a list out.
export function isCut(answer, list) {
  return Boolean(answer.cut?.includes(list));
}

// How many rows a list of an answer has; there are more, if some are left out.
export function countOf(answer, list) {
  return `${answer[list].length}${isCut(answer, list) ? '+' : ''}`;
}

// What stands below a list of an answer that has no further page, if rows of it are left out.
export function cutNote(answer, list) {
  return isCut(answer, list) ? h('p', { class: 'muted' }, tr('These are the first {0}.', answer[list].length)) : null;
}
