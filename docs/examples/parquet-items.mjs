#!/usr/bin/env node
// Turn a Parquet object of a bucket in the database into one of JSON lines, which an ItemReader reads:
//     sfworker -a parquet:program --program parquet-items.mjs --pass-env 'PG*'
// npm install hyparquet hyparquet-compressors beside it. The request on standard input is
//     {"Bucket": "lake", "Key": "rows.parquet", "Into": {"Bucket": "lake", "Key": "rows.jsonl"}, "Columns": ["id", "amount"]}
// (Columns may be left out), the answer {"Bucket", "Key", "Rows"}. The new object is there whole or not at all; one of that name is
// replaced. psql finds the database by PGHOST, PGDATABASE, PGSERVICE ...
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

const ROWS = 50_000; // at once in memory
const CHUNK = 4 * 1024 * 1024; // characters of JSON in one statement

// A psql that stops at the first error.
function psql() {
  const child = spawn('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const said = { out: [], err: '' };
  child.stdout.on('data', data => said.out.push(data));
  child.stderr.on('data', data => said.err += data);
  child.stdin.on('error', () => {}); // it has stopped, and says why
  const ended = once(child, 'close').then(([status]) => {
    if (status !== 0) throw new Error(said.err.trim());
    return Buffer.concat(said.out).toString();
  });
  ended.catch(() => {});
  return { ended, write: async sql => child.stdin.write(sql) || child.exitCode !== null || await Promise.race([once(child.stdin, 'drain'), ended]), end: () => child.stdin.end() };
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

// Read the whole object.
async function read({ Bucket, Key }) {
  const session = psql();
  await session.write(`SELECT pg_catalog.encode(sfflow_aws.get_object(${literal(Bucket)}, ${literal(Key)}), 'base64');\n`);
  session.end();
  const content = Buffer.from(await session.ended, 'base64');
  return { byteLength: content.length, slice: (from, to) => content.buffer.slice(content.byteOffset + from, content.byteOffset + (to ?? content.length)) };
}

// Write all rows of a file as lines into an object; how many there were.
async function convert(file, into, columns) {
  const metadata = await parquetMetadataAsync(file);
  const total = Number(metadata.num_rows);
  const place = `${literal(into.Bucket)}, ${literal(into.Key)}`;
  const session = psql();
  await session.write(`BEGIN;\nSELECT sfflow_aws.put_object(${place}, '', 'application/x-ndjson');\n`);
  let lines = '';
  const flush = async () => {
    if (lines === '') return;
    await session.write(`SELECT sfflow_aws.append_object(${place}, pg_catalog.decode('${Buffer.from(lines).toString('base64')}', 'base64'), 'application/x-ndjson');\n`);
    lines = '';
  };
  for (let rowStart = 0; rowStart < total; rowStart += ROWS) {
    for (const row of await parquetReadObjects({ file, metadata, compressors, columns, rowStart, rowEnd: Math.min(rowStart + ROWS, total) })) {
      lines += json(row) + '\n';
      if (lines.length > CHUNK) await flush();
    }
  }
  await flush();
  await session.write('COMMIT;\n');
  session.end();
  await session.ended;
  return total;
}

try {
  const request = JSON.parse(readFileSync(0, 'utf8'));
  if (![request, request.Into].every(o => typeof o?.Bucket === 'string' && typeof o?.Key === 'string')) throw new Error('Bucket, Key and Into are needed');
  const Rows = await convert(await read(request), request.Into, request.Columns);
  console.log(JSON.stringify({ Bucket: request.Into.Bucket, Key: request.Into.Key, Rows }));
} catch (e) {
  console.log(JSON.stringify({ Error: 'States.ItemReaderFailed', Cause: e.message }));
  process.exitCode = 1;
}
