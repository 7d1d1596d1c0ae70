// An HTTP caller that is traced by OpenTelemetry's SDK for JavaScript: it starts an execution within a span of its own,
// passes the context on as the SDK's propagator writes it, and exports its span to the collector.
//
//	traced-caller.mjs ENDPOINT STATE_MACHINE COLLECTOR
//
// AWS' SDK signs and sends the request. It prints the ids of the trace and of the span.
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { context, defaultTextMapSetter, SpanKind, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const [endpoint, machine, collector] = process.argv.slice(2);
const provider = new BasicTracerProvider({
	spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector}/v1/traces` }))] });
const span = provider.getTracer('caller').startSpan('checkout', { kind: SpanKind.CLIENT });
const headers = {};
new W3CTraceContextPropagator().inject(trace.setSpan(context.active(), span), headers, defaultTextMapSetter);
const client = new SFNClient({ endpoint, disableHostPrefix: true });
client.middlewareStack.add((next) => (call) => {
	Object.assign(call.request.headers, headers);
	return next(call);
}, { step: 'build' });
await client.send(new StartExecutionCommand({
	stateMachineArn: `arn:aws:states:us-east-1:000000000000:stateMachine:${machine}`, name: 'caller', input: '{}' }));
span.end();
await provider.shutdown();
console.log(`${span.spanContext().traceId} ${span.spanContext().spanId}`);
