#!/usr/bin/env node
// Read the items of a Distributed Map from objects of buckets in the database that the server does not read itself: Parquet, and
// files of lines or comma-separated values that are compressed (gzip; zstd where Node.js has it):
//     sfworker -a items:program --program map-items.mjs --pass-env 'PG*'
// npm install hyparquet hyparquet-compressors csv-parse beside it. The request on standard input is the ItemReader,
//     {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket", "Key"}, "ReaderConfig": {"InputType": "PARQUET"}}
// The items go to the Map as they are read, by the token in SFFLOW_TASK_TOKEN; the answer is their number. psql finds the database
// by PGHOST, PGDATABASE, PGSERVICE ... and reads what its role may read.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { parse } from 'csv-parse';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

const ROWS = 50_000; // of Parquet at once in memory
const BATCH = 1024 * 1024; // characters of JSON that are sent at once
const SLICE = 1024 * 1024; // bytes of a file of text that are read at once
const ENOUGH = Symbol('the Map wants no more items');

// A session of psql, which stops at the first error.
function psql() {
  const child = spawn('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = new Promise(done => {
    let text = '';
    child.stderr.on('data', data => text += data);
    child.on('error', e => done(e.message));
    child.on('close', () => done(text.trim()));
  });
  child.stdin.on('error', () => {}); // it has stopped, and says why
  return {
    // Run statements; gives the lines of their results.
    async ask(sql) {
      child.stdin.write(`${sql};\n\\echo .\n`);
      const result = [];
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error((await said) || 'psql has ended');
        if (value === '.') return result;
        result.push(value);
      }
    },
    end: () => child.stdin.end(),
  };
}

// A text as a literal of SQL.
const literal = text => `E'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

// A value of Parquet in JSON: integers keep all their digits, times are ISO 8601, bytes that are not text are base64.
function json(value) {
  if (value === undefined || value === null || (typeof value === 'number' && !Number.isFinite(value))) return 'null';
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${Array.from(value, json).join(',')}]`;
  if (typeof value !== 'object' || value instanceof Date) return JSON.stringify(value);
  return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${json(v)}`).join(',')}}`;
}

// Where items go: add(JSON text), then finish(), which gives their number.
function sink(session, token) {
  let items = [];
  let length = 0;
  let sent = 0;
  const flush = async () => {
    if (items.length === 0) return;
    const [more] = await session.ask(`SELECT sf_send_task_items(${literal(token)}, ${literal(`[${items.join(',')}]`)}, ${sent})`);
    sent += items.length;
    items = [];
    length = 0;
    if (more === 'f') throw ENOUGH;
  };
  return {
    async add(item) {
      items.push(item);
      length += item.length;
      if (length > BATCH) await flush();
    },
    finish: flush,
    count: () => sent,
  };
}

// An object of a bucket, of which parts are read.
async function open(session, bucket, key) {
  const place = `${literal(bucket)}, ${literal(key)}`;
  const [size] = await session.ask(`SELECT size FROM sfflow_aws.s3_object WHERE (bucket, key) = (${place})`);
  if (size === undefined) throw new Error('The specified key does not exist.');
  const byteLength = Number(size);
  return {
    byteLength,
    async slice(from, to = byteLength) {
      if (from >= to) return new ArrayBuffer(0);
      const text = await session.ask(`SELECT encode(sfflow_aws.s3_bytes(${place}, ${from}, ${to - 1}), 'base64')`);
      const bytes = Buffer.from(text.join(''), 'base64');
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    },
  };
}

// The content of an object as a stream of bytes, decompressed.
async function content(object) {
  const head = Buffer.from(await object.slice(0, Math.min(4, object.byteLength))).toString('hex');
  const parts = Readable.from((async function* () {
    for (let from = 0; from < object.byteLength; from += SLICE)
      yield Buffer.from(await object.slice(from, Math.min(from + SLICE, object.byteLength)));
  })());
  const unpack = head.startsWith('1f8b') ? zlib.createGunzip() : head === '28b52ffd' ? zlib.createZstdDecompress?.() : null;
  if (unpack === undefined) throw new Error('This Node.js does not decompress zstd.');
  if (unpack === null) return parts;
  parts.on('error', e => unpack.destroy(e));
  return parts.pipe(unpack);
}

// Add the rows of a file of Parquet.
async function addParquet(file, out) {
  const metadata = await parquetMetadataAsync(file);
  const total = Number(metadata.num_rows);
  for (let rowStart = 0; rowStart < total; rowStart += ROWS)
    for (const row of await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd: Math.min(rowStart + ROWS, total) }))
      await out.add(json(row));
}

// Add the lines of a file, each JSON text.
async function addLines(file, out) {
  for await (const line of createInterface({ input: await content(file), crlfDelay: Infinity }))
    if (line.trim() !== '') await out.add(line);
}

// Add the rows of a file of comma-separated values: objects of strings; surplus columns are dropped, missing ones are "".
async function addValues(file, out, delimiter, given) {
  const stream = await content(file);
  const rows = parse({ bom: true, delimiter, relax_column_count: true, skip_empty_lines: true });
  stream.on('error', e => rows.destroy(e));
  let headers = given;
  for await (const row of stream.pipe(rows)) {
    if (headers !== undefined) await out.add(JSON.stringify(Object.fromEntries(headers.map((name, i) => [name, row[i] ?? '']))));
    else if (new Set(headers = row).size < row.length) throw new Error('CSV headers cannot contain duplicates.');
  }
}

// Add the items of an object.
async function addObject(session, out, bucket, key, type, config, headers) {
  const file = await open(session, bucket, key);
  const delimiter = { PIPE: '|', SEMICOLON: ';', SPACE: ' ', TAB: '\t' }[config.CSVDelimiter] ?? ',';
  if (type === 'PARQUET') return addParquet(file, out);
  if (type === 'JSONL') return addLines(file, out);
  if (type === 'CSV') return addValues(file, out, delimiter, headers);
  throw new Error(`${type} is not read.`);
}

// The objects that an ItemReader names, and how each is read: [bucket, key, type, headers].
async function* objects(session, { Resource, Parameters: { Bucket, Key, Prefix = '' }, ReaderConfig: config }) {
  const type = config.InputType ?? 'JSON';
  const headers = config.CSVHeaderLocation === 'GIVEN' ? config.CSVHeaders : undefined;
  const whole = async () => (await (await content(await open(session, Bucket, Key))).toArray()).join('');
  if (Resource.includes(':listObjects')) {
    if (config.Transformation !== 'LOAD_AND_FLATTEN') throw new Error('A list of objects is read with LOAD_AND_FLATTEN.');
    const keys = await session.ask(`SELECT to_json(key) FROM sfflow_aws.s3_object WHERE bucket = ${literal(Bucket)} AND size > 0
      AND starts_with(key, ${literal(Prefix)}) ORDER BY key`);
    for (const key of keys) yield [Bucket, JSON.parse(key), type, headers];
  } else if (config.ManifestType === 'ATHENA_DATA') {
    for (const line of (await whole()).split('\n').map(line => line.trim()).filter(Boolean)) {
      const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(line) ?? [];
      if (key === undefined) throw new Error(`The manifest has "${line}", which names no object.`);
      yield [bucket, key, type, headers];
    }
  } else if (type === 'MANIFEST' || config.ManifestType === 'S3_INVENTORY') {
    const manifest = JSON.parse(await whole());
    for (const { key } of manifest.files)
      yield [manifest.destinationBucket?.replace(/.*:/, '') ?? Bucket, key, (manifest.fileFormat ?? 'CSV').toUpperCase(),
        manifest.fileSchema?.split(',').map(name => name.trim())];
  } else
    yield [Bucket, Key, type, headers];
}

const request = JSON.parse(readFileSync(0, 'utf8'));
const sessions = [psql(), psql()];
const out = sink(sessions[1], process.env.SFFLOW_TASK_TOKEN);
let at = `${request.Parameters?.Bucket}/${request.Parameters?.Key ?? request.Parameters?.Prefix ?? ''}`;
try {
  await sessions[0].ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'); // all parts are of the same object
  for await (const [bucket, key, type, headers] of objects(sessions[0], request)) {
    at = `${bucket}/${key}`;
    await addObject(sessions[0], out, bucket, key, type, request.ReaderConfig, headers);
  }
  await out.finish();
} catch (e) {
  if (e !== ENOUGH) {
    console.log(JSON.stringify({ Error: 'States.ItemReaderFailed', Cause: `${e.message} Object: '${at}'.` }));
    process.exitCode = 1;
  }
}
if (process.exitCode !== 1) {
  const max = request.ReaderConfig.MaxItems;
  console.log(max === undefined ? out.count() : Math.min(out.count(), max));
}
for (const session of sessions) session.end();
