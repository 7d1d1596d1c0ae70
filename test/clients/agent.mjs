// The Model Context Protocol's own client for JavaScript (@modelcontextprotocol/sdk) at sfgateway's endpoint.
//
//	agent.mjs URL ID:SECRET
//
// With a key it asks for the tools and calls some. Without one, and with one that is not good, the client must say
// clearly what is missing. One that knows OAuth looks for an authorization server and finds none. Prints a line of TAP
// per check.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { plan, same } from './tap.mjs';

const [url, key] = process.argv.slice(2);

// Connect, with what the transport is given; give the client.
async function connect(options) {
	const client = new Client({ name: 'test', version: '1' });
	await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
	return client;
}
const bearer = (text) => ({ requestInit: { headers: { Authorization: `Bearer ${text}` } } });

// --- with a key
const client = await connect(bearer(key));
same(client.getServerVersion().name, 'sfgateway', 'the client connects');
const { tools } = await client.listTools();
same(tools.some((tool) => tool.name === 'why_did_it_fail'), true, 'it lists tools');
same(tools.every((tool) => tool.annotations.readOnlyHint), true, 'which only read');
const tonight = await client.callTool({ name: 'tonight', arguments: {} });
same(tonight.structuredContent.failed.map((job) => job.latest_execution_id), ['nightly:bad'],
	'it calls one, whose answer agrees with the schema of the tool');
const why = await client.callTool({ name: 'why_did_it_fail', arguments: { execution_id: 'nightly:bad' } });
same(why.structuredContent.failed_jobs[0].job_id, 'Load', 'and another one');
const wrong = await client.callTool({ name: 'why_did_it_fail', arguments: {} });
same([wrong.isError, /needs the argument/.test(wrong.content[0].text)], [true, true], 'an error of a tool is a result');
await client.ping();
await client.close();

// --- without a good key
for (const [what, options] of [['no key', {}], ['an unknown key', bearer('AKIANONE:x')]]) {
	const error = await connect(options).catch((e) => e);
	same(error.code, 401, `${what}: the client is refused`);
	same(/an access key is needed: Authorization: Bearer ID:SECRET/.test(error.message), true,
		'... and says what is needed');
}

// --- a client that would get a token by OAuth
const asked = [];
const provider = {
	redirectUrl: 'http://127.0.0.1/callback',
	clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'test' },
	state: () => 'x',
	clientInformation: () => undefined,
	saveClientInformation: () => {},
	tokens: () => undefined,
	saveTokens: () => {},
	redirectToAuthorization: () => asked.push('a person was sent somewhere'),
	saveCodeVerifier: () => {},
	codeVerifier: () => 'x',
};
const looked = async (input, init) => {
	const response = await fetch(input, init);
	asked.push([init?.method ?? 'GET', new URL(input).pathname, response.status, response.headers.get('content-type')]
		.join(' '));
	return response;
};
const error = await connect({ authProvider: provider, fetch: looked }).catch((e) => e);
same(asked, [
	'POST /mcp 401 application/json',
	'GET /.well-known/oauth-protected-resource/mcp 404 application/json',
	'GET /.well-known/oauth-protected-resource 404 application/json',
	'GET /.well-known/oauth-authorization-server 404 application/json',
	'GET /.well-known/openid-configuration 404 application/json',
	'POST /register 404 application/json',
], 'a client of OAuth learns that there is no authorization server');
same(error.message, 'sfgateway has no OAuth; an access key is needed: Authorization: Bearer ID:SECRET',
	'... and says what is needed');
plan();
