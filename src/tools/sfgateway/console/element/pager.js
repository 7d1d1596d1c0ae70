// The way through the pages of a list.

import { h } from '../base/dom.js';
import { icon } from '../base/icons.js';
import { tr } from '../language/texts.js';
import { button } from './controls.js';

/** @import { Context } from '../frame/pages.js' */

/**
 * The buttons for the first page and the next one; `parameter` of the address says what a page is after, `next` after
 * what the next one is.
 * @param {string} label
 * @param {Context} context
 * @param {string} parameter
 * @param {string | number | null} next
 * @param {string} [words]
 * @returns {HTMLElement}
 */
export function pager(label, { query, go }, parameter, next, words = tr('Next page ')) {
  const turn = after => go({ ...query, [parameter]: after });
  return h('nav', { class: 'row pager', 'aria-label': label, key: 'pager' },
    query[parameter] ? button(tr('First page'), () => turn(undefined)) : null,
    next ? button([words, icon('next')], () => turn(next)) : null);
}
