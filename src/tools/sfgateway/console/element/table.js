// Tables, which a narrow window shows as lists.

import { h } from '../base/dom.js';
import { tr } from '../language/texts.js';

/** @import { Content } from '../base/dom.js' */

/**
 * A column of a table.
 * @template Row
 * @typedef {object} Column
 * @property {string | (() => Content)} title '' heads buttons, and is only read aloud
 * @property {(row: Row, n: number) => Content} cell makes the content for a row: null where there is nothing
 * @property {string} [class]
 * @property {string} [name] in the address, where columns can be chosen
 */

/**
 * An answer with lists; cut names those of which rows are left out.
 * @typedef {{ cut?: string[] } & Record<string, any>} Answer
 */

/**
 * A table; a column in which no row has anything is left out. In a narrow window each row is a list of its cells.
 * @template Row
 * @param {string} caption
 * @param {Column<Row>[]} all
 * @param {Row[]} rows
 * @param {((row: Row, n: number) => string | number) | null} [keyOf] tells rows from each other
 * @param {Content} [none] stands for a list without rows
 * @returns {HTMLElement}
 */
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
        h('tr', { role: 'row', key: keyOf ? keyOf(row, n) : n }, used.map(c =>
          tableCell(all[c].title, cells[n][c], all[c].class)
        ))
      )));
}

// The key of a row, by which it is found again when the page is drawn anew: parts that are told apart.
export function rowKey(...parts) {
  return JSON.stringify(parts);
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

/**
 * Whether an answer leaves rows of a list out.
 * @param {Answer} answer
 * @param {string} list
 * @returns {boolean}
 */
export function isCut(answer, list) {
  return Boolean(answer.cut?.includes(list));
}

/**
 * How many rows a list of an answer has; there are more, if some are left out.
 * @param {Answer} answer
 * @param {string} list
 * @returns {string}
 */
export function countOf(answer, list) {
  return `${answer[list].length}${isCut(answer, list) ? '+' : ''}`;
}

/**
 * What stands below a list of an answer that has no further page, if rows of it are left out.
 * @param {Answer} answer
 * @param {string} list
 * @returns {HTMLElement | null}
 */
export function cutNote(answer, list) {
  return isCut(answer, list) ? h('p', { class: 'muted' }, tr('These are the first {0}.', answer[list].length)) : null;
}
