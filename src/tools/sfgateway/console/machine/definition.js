// The definition of a machine beside its picture.

import { h } from '../base/dom.js';
import { printJson, readJson } from '../base/json.js';
import { text } from '../base/values.js';
import { button } from '../element/controls.js';
import { picture } from '../graph/picture.js';
import { tr } from '../language/texts.js';
import { heldStates } from '../steering/holds.js';

/** @import { Content } from '../base/dom.js' */
/** @import { Context } from '../frame/pages.js' */
/** @import { MachineData } from './machine.js' */

// The text of a definition: formatted, unless it is wanted as it was written, or is too long for that.
function definitionText(written, context) {
  const tree = context.query.as === 'written' ? null : readJson(written, 100000);
  return tree === null ? written : printJson(tree);
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

// The lines of a definition.
function definitionLines(written, state) {
  const lines = written.split('\n');
  const [from, to] = state ? stateLines(lines, state) : [-1, -1];
  return lines.map((line, n) =>
    h('span', { class: `line${n >= from && n <= to ? ' marked' : ''}`, id: n === from ? 'marked' : null }, text(line),
      '\n')
  );
}

// A definition; the lines of the chosen state are marked.
function definition(data, context) {
  return h('pre', { class: 'code', tabindex: '0', 'aria-label': tr('Definition'), dir: 'ltr', key: 'code',
    same: `${data.machine.version}${context.query.state}${context.query.as}` },
    () => definitionLines(definitionText(data.machine.definition, context), context.query.state));
}

/**
 * The definition beside the picture.
 * @param {MachineData} data
 * @param {Context} context
 * @returns {Content}
 */
export function definitionTab(data, context) {
  const isWritten = context.query.as === 'written';
  return h('div', { class: 'halves' },
    h('div', { key: 'text' },
      button(tr('As it was written'), () => context.go({ ...context.query, as: isWritten ? undefined : 'written' }), {
        class: 'small',
        'aria-pressed': String(isWritten),
      }), definition(data, context)),
    picture(data, heldStates(data.held, data.machine.state_machine, data.layout), context.query.state, state => {
      context.go({ ...context.query, state });
      requestAnimationFrame(() => document.getElementById('marked')?.scrollIntoView({ block: 'nearest' }));
    }, tr('States of the machine'), context));
}
