// Elements: made by h() and s(), brought up to date in place by patch(). No markup is ever parsed.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * What an element is made with: attributes, of which null, undefined and false are left out, and handlers (onclick, …).
 * The key tells the element from its siblings when it is drawn anew. While the mark "same" is the same, the element
 * that is there is left alone. Positions and sizes that are computed are in css.
 * @typedef {{ key?: string | number, same?: unknown, css?: Record<string, string> } & Record<string, unknown>} Props
 */

/**
 * What an element has in it; null, undefined, false and '' are nothing.
 * @typedef {Node | string | number | null | undefined | false | Content[]} Content
 */

/**
 * What is known of an element that was made here.
 * @typedef {object} Note
 * @property {string | number} [key] of the props
 * @property {unknown} [same] of the props
 * @property {Record<string, string>} [css] of the props
 * @property {Record<string, (event: Event) => void>} handlers by type of event
 * @property {Set<string>} listening the types of events that go to the handlers
 * @property {() => Content} [makeChildren] makes the children that were left for later
 */

/** @type {WeakMap<Node, Note>} */
const notes = new WeakMap();
const NOTHING = Object.freeze({});

// What is known of a node; of texts, and of elements that the page came with, nothing.
function noteOf(node) {
  return notes.get(node) ?? NOTHING;
}

// The key of a node among its siblings; undefined: it has none.
function keyOf(node) {
  return noteOf(node).key;
}

// Give an element its attributes, handlers and children. Handlers are called through the element, so that
// patch() can exchange them. A function instead of children makes them when the element comes to the page, and not at
// all where patch() leaves the one that is there alone.
function fill(element, props, children) {
  const note = { handlers: {}, listening: new Set() };
  notes.set(element, note);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'key' || name === 'same' || name === 'css') note[name] = value;
    else if (name.startsWith('on')) note.handlers[name.slice(2)] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  listen(element, note);
  style(element, note);
  if (typeof children[0] === 'function') note.makeChildren = children[0];
  else append(element, children);
  return element;
}

// Make the children of an element that were left for later.
function makeChildren(element) {
  const make = noteOf(element).makeChildren;
  if (make === undefined) return;
  notes.get(element).makeChildren = undefined;
  append(element, [make()]);
}

// Make all that was left for later in a node that comes to the page.
function makeAll(node) {
  makeChildren(node);
  for (const child of node.childNodes) makeAll(child);
  return node;
}

// Have events go to the handlers that the element has at the time.
function listen(element, note) {
  for (const type of Object.keys(note.handlers)) {
    if (note.listening.has(type)) continue;
    note.listening.add(type);
    element.addEventListener(type, event => note.handlers[type]?.(event));
  }
}

// Set the positions and sizes that are computed; the policy forbids style attributes, but not this.
function style(element, { css }) {
  for (const [name, value] of Object.entries(css ?? {})) element.style.setProperty(name, value);
}

// Append children: nodes, texts, lists of them; nothing is left out.
function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Make an element.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...(Content | (() => Content))} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * Make an element of a picture.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Content} children
 * @returns {SVGElement}
 */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

// What the user has changed stays: the open state of what can be folded, and what is typed into fields.
function isOwn(element, name) {
  return (name === 'open' && (element.nodeName === 'DETAILS' || element.nodeName === 'DIALOG')) || name === 'style';
}

// What the page says of a field, whatever the user has entered.
function saidOf(field) {
  if (field.nodeName === 'INPUT') return field.getAttribute('value') ?? '';
  return ([...field.options].findLast(option => option.hasAttribute('selected')) ?? field.options[0])?.value ?? '';
}

// What a field is to have that becomes another one: what the user has entered, until the page says something else of
// the field, and then, too, while the user is at it; undefined: it is no field with a text or a choice.
function valueOf(old, made) {
  if (old.nodeName !== 'SELECT' && (old.nodeName !== 'INPUT' || old.type === 'checkbox')) return undefined;
  const before = saidOf(old), now = saidOf(made);
  const isAtIt = old === document.activeElement && old.value !== before;
  const isOffered = old.nodeName === 'INPUT' || [...made.options].some(option => option.value === old.value);
  return isOffered && (before === now || isAtIt) ? old.value : now;
}

// Make the attributes of an element those of another one.
function patchAttributes(old, made) {
  for (const { name } of [...old.attributes])
    if (!made.hasAttribute(name) && !isOwn(old, name)) old.removeAttribute(name);
  for (const { name, value } of [...made.attributes])
    if (old.getAttribute(name) !== value && !isOwn(old, name)) old.setAttribute(name, value);
  if (old.nodeName === 'INPUT' && old.type === 'checkbox') old.checked = made.checked;
}

// Take away the children with a key that another element does not have. What stays behind them need not be moved, and
// an element that is moved loses the focus.
function removeGone(old, made) {
  const kept = new Set([...made.childNodes].map(keyOf));
  for (const child of [...old.childNodes])
    if (keyOf(child) !== undefined && !kept.has(keyOf(child))) child.remove();
}

// The children of an element by their keys: of each key a list, in their order, for rows can be alike.
function childrenByKey(element) {
  const keyed = new Map();
  for (const child of element.childNodes) {
    const key = keyOf(child);
    if (keyed.has(key)) keyed.get(key).push(child);
    else keyed.set(key, [child]);
  }
  return keyed;
}

// Make the children of an element those of another one; those with the same key stay where they are.
function patchChildren(old, made) {
  removeGone(old, made);
  const keyed = childrenByKey(old);
  let cursor = old.firstChild;
  for (const child of [...made.childNodes]) {
    const key = keyOf(child);
    const match = key === undefined ? cursor : keyed.get(key)?.shift();
    if (match === undefined || match === null || (key === undefined && keyOf(match) !== undefined)) {
      old.insertBefore(makeAll(child), cursor);
      continue;
    }
    if (match !== cursor) old.insertBefore(match, cursor);
    else cursor = cursor.nextSibling;
    patch(match, child);
  }
  while (cursor !== null) {
    const next = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}

// Make what is known of an element that of another one: its handlers, and the positions and sizes that are computed.
function patchNote(old, { same, handlers = {}, css = {} }) {
  if (!notes.has(old)) notes.set(old, { listening: new Set() });
  const note = notes.get(old);
  for (const name of Object.keys(note.css ?? {})) if (!(name in css)) old.style.removeProperty(name);
  Object.assign(note, { same, handlers, css });
  listen(old, note);
  style(old, note);
}

/**
 * Make a node like another one that was just made, and return the node that is there then. Focus, scrolling and what
 * is unfolded stay as they are. An element with the same mark ("same") is left alone.
 * @param {Node} old
 * @param {Node} made
 * @returns {Node}
 */
export function patch(old, made) {
  if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName || keyOf(old) !== keyOf(made)) {
    old.replaceWith(makeAll(made));
    return made;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== made.data) old.data = made.data;
    return old;
  }
  const now = noteOf(made);
  if (now.same !== undefined && noteOf(old).same === now.same) return old;
  makeChildren(made);
  const value = valueOf(old, made);
  patchAttributes(old, made);
  patchNote(old, now);
  patchChildren(old, made);
  if (value !== undefined && old.value !== value) old.value = value;
  return old;
}

// Have a screen reader say something.
export function say(text) {
  document.getElementById('said').textContent = text;
}
