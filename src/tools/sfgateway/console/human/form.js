// Forms, made of the JSON Schema of a worklist. What is typed becomes JSON text, so that numbers keep their digits.
// Whether it fits is for the database to say: its errors name a field by its JSON pointer.

import { h } from '../base/dom.js';
import { readJson } from '../base/json.js';
import { tr } from '../language/texts.js';

const DEEPEST = 4; // objects within each other that have fields of their own
const LONG = 200; // characters of a text that get more than a line
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Of what a field is made.
 * @typedef {object} Spec
 * @property {Record<string, any>} schema
 * @property {string} label
 * @property {string} pointer
 * @property {boolean} required
 * @property {number} depth how many objects it lies in
 * @property {Map<string, { control: HTMLElement, wrong: HTMLElement }>} controls by pointer; wrong has the error
 * @property {string} [preset] the text of a JSON field without a default
 */

/**
 * A field; read() gives the JSON text of what was entered, or undefined: nothing was.
 * @typedef {{ element: HTMLElement, read: () => string | undefined }} Field
 */

/**
 * A form; read() throws a FormError. refuse() shows an error at its field, and tells whether there is one.
 * @typedef {{ elements: HTMLElement[], read: () => string | undefined,
 *   refuse: (pointer: string, problem: string) => boolean }} Form
 */

// What is wrong with a field before the database has seen it.
export class FormError extends Error {
  constructor(pointer, problem) {
    super(problem);
    this.pointer = pointer;
    this.problem = problem;
  }
}

// The one type of a value, and whether null is allowed, too.
function typeOf(schema) {
  const types = [schema.type ?? []].flat();
  const others = types.filter(type => type !== 'null');
  return { type: others.length === 1 ? others[0] : types.length === 0 && schema.properties ? 'object' : undefined,
    nullable: types.includes('null') };
}

// A number and what it counts, with the least and the most; null without either.
function spanOf(least, most, unit = '') {
  const counted = unit === '' ? '' : ` ${unit}`;
  if (least === undefined && most === undefined) return null;
  return least === undefined ? tr('at most {0}{1}', most, counted) :
    most === undefined ? tr('at least {0}{1}', least, counted) : tr('{0} to {1}{2}', least, most, counted);
}

// What a person should know of a value.
function hintOf(schema) {
  return [schema.description, spanOf(schema.minimum, schema.maximum),
    schema.exclusiveMinimum === undefined ? null : tr('more than {0}', schema.exclusiveMinimum),
    schema.exclusiveMaximum === undefined ? null : tr('less than {0}', schema.exclusiveMaximum),
    spanOf(schema.minLength, schema.maxLength, tr('characters')),
    spanOf(schema.minItems, schema.maxItems, tr('elements')),
    schema.pattern === undefined ? null : tr('as {0}', schema.pattern)].filter(x => x).join('; ');
}

// A member of a JSON pointer.
function below(pointer, name) {
  return `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

// A field with its label, hint and room for an error; read() gives its JSON text, or undefined: nothing was entered.
function labelled(spec, control, read, hint = hintOf(spec.schema)) {
  const id = `form-${spec.controls.size}`;
  const wrong = h('p', { class: 'wrong', id: `${id}-wrong`, role: 'alert' });
  control.id = id;
  control.setAttribute('aria-describedby', `${hint ? `${id}-hint ` : ''}${id}-wrong`);
  if (spec.required) control.setAttribute('aria-required', 'true');
  spec.controls.set(spec.pointer, { control, wrong });
  return {
    element: h('div', { class: 'field' },
      h('label', { for: id }, spec.label, spec.required ? h('span', { class: 'muted' }, tr(' (required)')) : null),
      control, hint ? h('small', { id: `${id}-hint` }, hint) : null, wrong),
    read,
  };
}

// One of some values.
function choiceOf(spec, values) {
  const chosen = JSON.stringify(spec.schema.default);
  const control = h('select', null, h('option', { value: '' }, '–'),
    values.map(([value, words]) => h('option', { value, selected: value === chosen }, words)));
  return labelled(spec, control, () => control.value === '' ? undefined : control.value);
}

// The words for a value that can be chosen.
function valueWords(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// The kinds of input for formats.
const INPUTS = { date: 'date', 'date-time': 'datetime-local', email: 'email' };

// A text; a time is that of the browser's time zone.
function textOf(spec) {
  const { format, maxLength, examples } = spec.schema;
  const type = INPUTS[format] ?? 'text';
  const value = spec.schema.default === undefined || type === 'datetime-local' ? undefined :
    String(spec.schema.default);
  const placeholder = examples === undefined ? undefined : String([examples].flat()[0] ?? '');
  const control = type === 'text' && maxLength >= LONG ? h('textarea', { rows: '4', placeholder }, value) :
    h('input', { type, value, placeholder, step: type === 'datetime-local' ? '1' : null, autocomplete: 'off' });
  const read = () => {
    if (control.value === '') return undefined;
    return JSON.stringify(type === 'datetime-local' ? new Date(control.value).toISOString() : control.value);
  };
  return labelled(spec, control, read);
}

// The JSON of what was typed as a number; what is none becomes a text, which the form refuses.
function numberText(typed) {
  const trimmed = typed.trim();
  return NUMBER.test(trimmed) ? trimmed : JSON.stringify(trimmed);
}

// A number.
function numberOf(spec, type) {
  const control = h('input', { type: 'text', inputmode: type === 'integer' ? 'numeric' : 'decimal',
    value: spec.schema.default, autocomplete: 'off' });
  return labelled(spec, control, () => control.value.trim() === '' ? undefined : numberText(control.value));
}

// An array of texts or numbers: a line for each.
function listOf(spec, type) {
  const list = spec.schema.default === undefined ? '' : [spec.schema.default].flat().join('\n');
  const control = h('textarea', { rows: '4', spellcheck: 'false' }, list);
  const read = () => {
    const lines = control.value.split('\n').map(typed => typed.trim()).filter(typed => typed !== '');
    if (lines.length === 0) return spec.required ? '[]' : undefined;
    return `[${lines.map(typed => type === 'string' ? JSON.stringify(typed) : numberText(typed)).join(', ')}]`;
  };
  return labelled(spec, control, read, [tr('one per line'), hintOf(spec.schema)].filter(x => x).join('; '));
}

// Anything else, as JSON.
function jsonOf(spec) {
  const control = h('textarea', { rows: '6', spellcheck: 'false', class: 'code' },
    spec.schema.default === undefined ? spec.preset : JSON.stringify(spec.schema.default, null, 2));
  const read = () => {
    if (control.value.trim() === '') return undefined;
    if (readJson(control.value, 1000000) === null) throw new FormError(spec.pointer, tr('is no JSON'));
    return control.value;
  };
  return labelled(spec, control, read, ['JSON', hintOf(spec.schema)].filter(x => x).join('; '));
}

// The fields of an object, first those that it must have, in that order: of others the database keeps none. read()
// gives undefined if nothing was entered and the object may be missing.
function membersOf(spec) {
  const { properties, required = [] } = spec.schema;
  const wanted = new Set(required.filter(name => Object.hasOwn(properties, name)));
  const names = [...wanted, ...Object.keys(properties).filter(name => !wanted.has(name))];
  const fields = names.map(name => [name, properties[name]]).map((
    [name, schema],
  ) => [name,
    fieldOf({ schema, label: schema.title ?? name, pointer: below(spec.pointer, name), required: wanted.has(name),
      controls: spec.controls, depth: spec.depth + 1 })]
  );
  const read = () => {
    const values = fields.map(([name, one]) => [name, one.read()]).filter(([, value]) => value !== undefined);
    if (values.length === 0 && !spec.required) return undefined;
    return `{${values.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ')}}`;
  };
  return { fields: fields.map(([, one]) => one.element), read };
}

// An object within another one.
function groupOf(spec) {
  const { fields, read } = membersOf(spec);
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const element = h('fieldset', { tabindex: '-1' }, h('legend', null, spec.label),
    spec.schema.description ? h('p', { class: 'muted' }, spec.schema.description) : null, fields, wrong);
  spec.controls.set(spec.pointer, { control: element, wrong });
  return { element, read };
}

// The fields of a value.
function fieldOf(spec) {
  const { schema } = spec;
  const { type, nullable } = typeOf(schema);
  const one =
    ((schema.enum && choiceOf(spec, schema.enum.map(value => [JSON.stringify(value), valueWords(value)]))) ||
      (schema.const !== undefined && choiceOf(spec, [[JSON.stringify(schema.const), valueWords(schema.const)]]))) ||
    kindOf(spec, type);
  return nullable && spec.required ? { element: one.element, read: () => one.read() ?? 'null' } : one;
}

// The fields of a value of a type.
function kindOf(spec, type) {
  const items = spec.schema.items && typeOf(spec.schema.items).type;
  if (type === 'boolean') return choiceOf(spec, [['true', tr('yes')], ['false', tr('no')]]);
  if (type === 'string') return textOf(spec);
  if (type === 'number' || type === 'integer') return numberOf(spec, type);
  if (type === 'array' && ['string', 'number', 'integer'].includes(items)) return listOf(spec, items);
  if (type === 'object' && spec.schema.properties && spec.depth < DEEPEST) return groupOf(spec);
  return jsonOf(spec);
}

/**
 * Make the fields of a schema, or (null) one for any JSON.
 * @param {Record<string, any> | null} schema
 * @returns {Form}
 */
export function makeForm(schema) {
  const controls = new Map();
  const spec = { schema: schema ?? {}, label: tr('Answer'), pointer: '', required: true, controls, depth: 0,
    preset: '{}' };
  const isObject = typeOf(spec.schema).type === 'object' && spec.schema.properties && !spec.schema.enum;
  const root = isObject ? membersOf(spec) : null;
  const only = root ? null : fieldOf(spec);
  const clear = () => {
    for (const { control, wrong } of controls.values()) {
      wrong.replaceChildren();
      control.removeAttribute('aria-invalid');
    }
  };
  const refuse = (pointer, problem) => {
    const at =
      [...controls.keys()].filter(known => pointer === known || pointer.startsWith(`${known}/`)).sort((a, b) =>
        b.length - a.length
      )[0];
    if (at === undefined) return false;
    const { control, wrong } = controls.get(at);
    wrong.replaceChildren(`${pointer.slice(at.length)} ${problem}`.trim());
    control.setAttribute('aria-invalid', 'true');
    control.focus();
    return true;
  };
  const read = () => {
    clear();
    return root ? root.read() : only.read() ?? 'null';
  };
  return { elements: root ? root.fields : [only.element], read, refuse };
}
