// Buttons and fields.

import { h } from '../base/dom.js';
import { tr } from '../language/texts.js';

// A button.
export function button(label, onclick, props = {}) {
  return h('button', { type: 'button', onclick, ...props }, label);
}

// A field of a form with its label.
export function field(label, control, hint) {
  return h('label', { class: 'field' }, h('span', null, label), control, hint ? h('small', null, hint) : null);
}

// A field in which one of some values is chosen: each is a value, or [value, words].
export function choice(label, name, list, chosen, hint) {
  return field(label,
    h('select', { name },
      list.map(x => Array.isArray(x) ? x : [x, x]).map(([value, words]) =>
        h('option', { value, selected: value === chosen }, words)
      )), hint);
}

// A field for why something is done.
export function reasonField() {
  return field(tr('Reason (kept in the audit)'), h('input', { name: 'reason', maxlength: '500', autocomplete: 'off' }));
}
