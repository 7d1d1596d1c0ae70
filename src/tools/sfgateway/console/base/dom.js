// Elements: made by h() and s(), brought up to date in place by patch(). No markup is ever parsed.

const SVG = 'http://www.w3.org/2000/svg';

// Give an element its attributes, handlers and children. Handlers are called through the element, so that
// patch() can exchange them. A function instead of children makes them when the element comes to the page, and not at
// all where patch() leaves the one that is there alone.
function fill(element, props, children) {
  element.handlers = {};
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'key') element.key = value;
    else if (name === 'same') element.same = value;
    else if (name === 'css') element.css = value;
    else if (name.startsWith('on')) element.handlers[name.slice(2)] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const type of Object.keys(element.handlers)) listen(element, type);
  style(element);
  if (typeof children[0] === 'function') element.makeChildren = children[0];
  else append(element, children);
  return element;
}

// Make the children of an element that were left for later.
function makeChildren(element) {
  const make = element.makeChildren;
  element.makeChildren = undefined;
  if (make !== undefined) append(element, [make()]);
}

// Make all that was left for later in a node that comes to the page.
function makeAll(node) {
  makeChildren(node);
  for (const child of node.childNodes) makeAll(child);
  return node;
}

// Have events of a type go to the handler that the element has at the time.
function listen(element, type) {
  element.listening ??= new Set();
  if (element.listening.has(type)) return;
  element.listening.add(type);
  element.addEventListener(type, event => element.handlers[type]?.(event));
}

// Set the positions and sizes that are computed; the policy forbids style attributes, but not this.
function style(element) {
  for (const [name, value] of Object.entries(element.css ?? {})) element.style.setProperty(name, value);
}

// Append children: nodes, texts, lists of them; nothing is left out.
function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// Make an element.
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

// Make an element of a picture.
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
  const kept = new Set([...made.childNodes].map(child => child.key));
  for (const child of [...old.childNodes]) if (child.key !== undefined && !kept.has(child.key)) child.remove();
}

// Make the children of an element those of another one; those with the same key stay where they are.
function patchChildren(old, made) {
  removeGone(old, made);
  const keyed = new Map();
  for (const child of old.childNodes) if (child.key !== undefined) keyed.set(child.key, child);
  let cursor = old.firstChild;
  for (const child of [...made.childNodes]) {
    const match = child.key === undefined ? cursor : keyed.get(child.key);
    if (match === undefined || match === null || (child.key === undefined && match.key !== undefined)) {
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

// Make a node like another one that was just made, and return the node that is there then. Focus, scrolling and what
// is unfolded stay as they are. An element with the same mark ("same") is left alone.
export function patch(old, made) {
  if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName || old.key !== made.key) {
    old.replaceWith(makeAll(made));
    return made;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== made.data) old.data = made.data;
    return old;
  }
  if (made.same !== undefined && old.same === made.same) return old;
  makeChildren(made);
  old.same = made.same;
  old.handlers = made.handlers ?? {};
  for (const type of Object.keys(old.handlers)) listen(old, type);
  const value = valueOf(old, made);
  patchAttributes(old, made);
  if (old.css || made.css) {
    for (const name of Object.keys(old.css ?? {})) if (!(name in (made.css ?? {}))) old.style.removeProperty(name);
    old.css = made.css;
    style(old);
  }
  patchChildren(old, made);
  if (value !== undefined && old.value !== value) old.value = value;
  return old;
}

// Have a screen reader say something.
export function say(text) {
  document.getElementById('said').textContent = text;
}
