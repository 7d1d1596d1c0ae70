// Labels: as a field has them, and as links.

import { h } from '../base/dom.js';
import { addressOf } from '../base/links.js';
import { text } from '../base/values.js';
import { tr } from '../language/texts.js';

// Labels as a field has them: tenant=acme, order=17. What cannot be written so is written in JSON.
export function labelsText(labels) {
  const pairs = Object.entries(labels);
  return pairs.some(pair => pair.some(s => s !== s.trim() || /[,={}]/.test(s))) ? JSON.stringify(labels) :
    pairs.map(pair => pair.join('=')).join(', ');
}

// The labels that are written in JSON.
function readJsonLabels(written) {
  try {
    return JSON.parse(written);
  } catch {
    throw new Error(`${tr('Labels')}: ${tr('is no JSON')}`);
  }
}

// The labels of a text as a field has it; undefined: it has none. JSON that is none is an error.
export function readLabels(written) {
  if (!written?.trim()) return undefined;
  if (written.trim().startsWith('{')) return readJsonLabels(written);
  return Object.fromEntries(written.split(',').filter(s => s.trim()).map(pair => {
    const [name, ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  }));
}

// The labels of an execution, each a link to the executions that have it.
export function labelLinks(labels) {
  return Object.entries(labels ?? {}).map(([name, value]) => [
    h('a', { href: addressOf('executions', '', { labels: labelsText({ [name]: value }) }), class: 'label' },
      text(`${name}=${value}`)),
    ' ',
  ]);
}
