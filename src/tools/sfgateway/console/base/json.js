// Read JSON into a tree that keeps each number as it is written: numeric of PostgreSQL has more digits than a number
// here.

const TOKEN = /\s*([{}[\]:,]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/**
 * A value of JSON: an object or an array has items, each with its key or its number; anything else has a text, of a
 * number as it was written.
 * @typedef {object} JsonValue
 * @property {'object' | 'array' | 'string' | 'number' | 'word'} kind a word is true, false or null
 * @property {string} [text]
 * @property {[string, JsonValue][]} [items]
 */

/**
 * Read a text; null if it is no JSON, has more than `most` values or is nested deeper than 200.
 * @param {string} text
 * @param {number} most
 * @returns {JsonValue | null}
 */
export function readJson(text, most) {
  TOKEN.lastIndex = 0;
  const reader = { text, left: most };
  try {
    JSON.parse(text); // refuses what is no JSON, which the rest takes for granted
    return readValue(reader, nextToken(reader), 0);
  } catch {
    return null;
  }
}

// The next token.
function nextToken(reader) {
  return TOKEN.exec(reader.text)[1];
}

// Read a value that begins with a token.
function readValue(reader, token, depth) {
  if (reader.left-- <= 0 || depth > 200) throw new RangeError('too large');
  if (token === '{') return readItems(reader, 'object', '}', depth);
  if (token === '[') return readItems(reader, 'array', ']', depth);
  if (token[0] === '"') return { kind: 'string', text: JSON.parse(token) };
  return { kind: /^[-\d]/.test(token) ? 'number' : 'word', text: token };
}

// Read the items of an object or an array.
function readItems(reader, kind, end, depth) {
  const items = [];
  for (let token = nextToken(reader); token !== end; token = nextToken(reader)) {
    if (token === ',') token = nextToken(reader);
    let key = String(items.length);
    if (kind === 'object') {
      key = JSON.parse(token);
      nextToken(reader); // the colon
      token = nextToken(reader);
    }
    items.push([key, readValue(reader, token, depth + 1)]);
  }
  return { kind, items };
}

/**
 * Write a value as a person does: two blanks for what lies in something, and on one line what has room there. Numbers
 * keep their digits.
 * @param {JsonValue} value
 * @param {string} [before]
 * @param {number} [room]
 * @returns {string}
 */
export function printJson({ kind, text, items }, before = '', room = 100) {
  if (!items) return kind === 'string' ? JSON.stringify(text) : text;
  const [open, close] = kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (items.length === 0) return `${open}${close}`;
  const named = key => kind === 'object' ? `${JSON.stringify(key)}: ` : '';
  if (items.every(([, value]) => !value.items || value.items.length === 0)) {
    const line = `${open}${items.map(([key, value]) => named(key) + printJson(value)).join(', ')}${close}`;
    if (before.length + line.length <= room) return line;
  }
  const deeper = `${before}  `;
  const lines = items.map(([key, value]) => `${deeper}${named(key)}${printJson(value, deeper, room)}`);
  return `${open}\n${lines.join(',\n')}\n${before}${close}`;
}
