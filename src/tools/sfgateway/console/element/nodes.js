// Where rows are of other nodes, and which nodes a list lacks.

import { h } from '../base/dom.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';
import { notice } from './blocks.js';

/** @import { Content } from '../base/dom.js' */
/** @import { NodeRow } from './rights.js' */

/**
 * The node of a row; this database has none.
 * @param {NodeRow} row
 * @returns {Content}
 */
export function nodeOf(row) {
  return row.node ? text(row.node) : null;
}

/**
 * A word of the node of something that is not in a table.
 * @param {NodeRow} row
 * @returns {Content}
 */
export function nodeNote(row) {
  return row.node ? [' (', tr('Node'), ' ', text(row.node), ')'] : '';
}

/**
 * Which nodes a list lacks, and why.
 * @param {{ nodes_missing?: { node: string, name?: string, error: string }[] }} data
 * @returns {Content}
 */
export function missingNodes(data) {
  return data.nodes_missing?.length ?
    h('div', { key: 'missing', role: 'status' },
      notice('late',
        data.nodes_missing.map(m =>
          h('p', null, h('strong', null, m.name ? tr('Without node {0} ({1}): ', m.node, m.name) : ''), text(m.error))
        ))) : null;
}
