#!/usr/bin/env python3
"""A collector of OpenTelemetry for tests: takes traces by OTLP/HTTP, as protobuf and as JSON.

    otlp-collector.py PORT FOLDER [CERTIFICATE KEY [CA]]

It decodes protobuf with Google's library and test/fixtures/otlp.proto, and adds a line of JSON for each request to
FOLDER/asked, and before it answers to FOLDER/requests: method, path, headers, bytes, status, protocol and, as OTLP/JSON, what the request holds. A request that
it cannot decode, or with fields that are not in the protocol, gets the status 400.

FOLDER/plan, if it is there, is a JSON array of answers to the next requests, which are used up: status, headers, message,
partial (rejected spans), refuse (400 if a span has this name), hold (a file: answer when it is there). Other requests
get 200. With a CA, clients must show a certificate of it.
"""
import gzip
import http.server
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time

fixtures = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fixtures')
made = tempfile.mkdtemp()
subprocess.run(['protoc', '--python_out=' + made, '-I' + fixtures, 'otlp.proto'], check=True)
sys.path.insert(0, made)
import otlp_pb2  # noqa: E402

port, folder = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
HEX = {'trace_id', 'span_id', 'parent_span_id'}


def to_json(message):
    """Give a message of protobuf as OTLP/JSON: only what is there."""
    out = {}
    for field, value in message.ListFields():
        values = value if field.label == field.LABEL_REPEATED else [value]
        texts = []
        for one in values:
            if field.type == field.TYPE_MESSAGE:
                one = to_json(one)
            elif field.name in HEX:
                one = one.hex()
            elif field.type in (field.TYPE_FIXED64, field.TYPE_INT64):
                one = str(one)
            texts.append(one)
        out[field.json_name] = texts if field.label == field.LABEL_REPEATED else texts[0]
    return out


def decode(body, protocol):
    """Decode a request; raise ValueError if it has what is not in the protocol."""
    if protocol == 'application/json':
        return json.loads(body)
    message = otlp_pb2.ExportTraceServiceRequest()
    message.ParseFromString(body)
    size = message.ByteSize()
    message.DiscardUnknownFields()
    if message.ByteSize() != size:
        raise ValueError('unknown fields')
    return to_json(message)


def next_answer():
    """Take the next answer off the plan."""
    with lock:
        try:
            with open(folder + '/plan') as plan:
                answers = json.load(plan)
        except FileNotFoundError:
            return {}
        if not answers:
            return {}
        with open(folder + '/plan.new', 'w') as plan:
            json.dump(answers[1:], plan)
        os.rename(folder + '/plan.new', folder + '/plan')
        return answers[0]


def names_of(request):
    """List the names of the spans of a request."""
    return [span['name'] for r in request.get('resourceSpans', []) for s in r['scopeSpans'] for span in s['spans']]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        protocol = self.headers['Content-Type']
        answer = next_answer()
        note = {'method': 'POST', 'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()},
                'bytes': len(body), 'protocol': protocol, 'time': time.time()}
        status = answer.get('status', 200)
        try:
            plain = gzip.decompress(body) if self.headers['Content-Encoding'] == 'gzip' else body
            note['plain'] = len(plain)
            note['request'] = decode(plain, protocol)
            if answer.get('refuse') in names_of(note['request']):
                status = 400
        except Exception as problem:
            note['problem'] = repr(problem)
            status = 400
        note['status'] = status
        self.note('asked', note)
        while 'hold' in answer and not os.path.exists(answer['hold']):
            time.sleep(0.05)
        self.note('requests', note)
        try:
            self.answer(status, answer, protocol)
        except OSError:
            pass

    def answer(self, status, answer, protocol):
        """Send an answer in the encoding of the request."""
        message = answer.get('message', '')
        if status == 200:
            reply = otlp_pb2.ExportTraceServiceResponse()
            if 'partial' in answer or message:
                reply.partial_success.rejected_spans = answer.get('partial', 0)
                reply.partial_success.error_message = message
            plain = {'partialSuccess': {'rejectedSpans': str(answer.get('partial', 0)), 'errorMessage': message}}
        else:
            reply = otlp_pb2.RpcStatus(code=3, message=message)
            plain = {'code': 3, 'message': message}
        body = json.dumps(plain).encode() if protocol == 'application/json' else reply.SerializeToString()
        if 'raw' in answer:
            body = answer['raw'].encode()
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain' if 'raw' in answer else protocol)
        self.send_header('Content-Length', str(len(body)))
        for name, value in answer.get('headers', {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def note(self, file, note):
        """Add a line to a file of the folder, in one write."""
        with lock, open(folder + '/' + file, 'a') as out:
            out.write(json.dumps(note) + '\n')

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        # A client that does not trust the certificate, or has none, is no news.
        pass


server = Server(('127.0.0.1', port), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    if len(sys.argv) > 5:
        context.load_verify_locations(sys.argv[5])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(folder + '/ready', 'w') as ready:
    ready.write(str(os.getpid()))
server.serve_forever()
