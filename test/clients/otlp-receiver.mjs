// A receiver of traces by OTLP/HTTP that decodes with OpenTelemetry's own classes of its protocol (the package
// @opentelemetry/otlp-transformer), as the collector in test/clients/otlp-collector.py does with Google's library.
//
//	otlp-receiver.mjs PORT FOLDER
//
// It adds a line of JSON for each request to FOLDER/requests: what the request holds as OTLP/JSON, and the status of the
// answer. A request that the classes refuse, or with fields that they do not know, gets the status 400.
import { createServer } from 'node:http';
import { appendFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { createRequire } from 'node:module';

const { opentelemetry } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root');
const { ExportTraceServiceRequest, ExportTraceServiceResponse } = opentelemetry.proto.collector.trace.v1;
const [port, folder] = process.argv.slice(2);
const ids = new Set(['traceId', 'spanId', 'parentSpanId']);

// Give a decoded value as OTLP/JSON: ids are hexadecimal, and empty ones are left out.
function plain(value, key) {
	if (value instanceof Uint8Array) return Buffer.from(value).toString(ids.has(key) ? 'hex' : 'base64');
	if (Array.isArray(value)) return value.map((one) => plain(one));
	if (value === null || typeof value !== 'object') return value;
	const entries = Object.entries(value).map(([name, one]) => [name, plain(one, name)]);
	return Object.fromEntries(entries.filter(([name, one]) => !ids.has(name) || one !== ''));
}

// Decode a request; throw if its fields are not those of the protocol.
function decode(bytes) {
	const message = ExportTraceServiceRequest.decode(bytes);
	const object = ExportTraceServiceRequest.toObject(message, { longs: String });
	const problem = ExportTraceServiceRequest.verify(message);
	if (problem) throw new Error(problem);
	if (ExportTraceServiceRequest.encode(message).finish().length !== bytes.length) throw new Error('unknown fields');
	return plain(object);
}

const server = createServer(async (request, response) => {
	const pieces = [];
	for await (const piece of request) pieces.push(piece);
	const note = { path: request.url, protocol: request.headers['content-type'], status: 200 };
	try {
		const body = Buffer.concat(pieces);
		note.request = decode(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
	} catch (error) {
		Object.assign(note, { status: 400, problem: String(error) });
	}
	appendFileSync(`${folder}/requests`, `${JSON.stringify(note)}\n`);
	response.writeHead(note.status, { 'Content-Type': 'application/x-protobuf' });
	response.end(note.status === 200 ? ExportTraceServiceResponse.encode({}).finish() : undefined);
});
server.listen(Number(port), '127.0.0.1', () => writeFileSync(`${folder}/ready`, String(process.pid)));
