#!/usr/bin/env python3
"""Write src/aws/shapes.bin: the operations of AWS services and the shapes of their responses.

	src/aws/shapes.py [FOLDER]	> src/aws/shapes.bin

FOLDER is botocore's folder "data"; without it, that of the botocore that Python imports. The first line of
the file names the version of botocore that it was made from. Debian's package python3-botocore has an old one;
`pip install botocore` gets the current one. The same source gives the same bytes.

The file:

	sfflow-shapes 1 botocore VERSION
	NAME[,NAME…] BYTES DEFLATED		one line per service: its names in a Resource, the length of its text
	…								and that of the text deflated (RFC 1951, without a header)
	(an empty line, then the deflated texts, in the same order)

The text of a service:

	SHAPE							the shapes that others refer to, the first one is number 0
	…
	(an empty line)
	OPERATION PATTERNS SHAPE		one line per operation, in the order of their names
	…

PATTERNS are the integration patterns that a Resource may have: r request-response, s .sync, 2 .sync:2,
t .waitForTaskToken. response_shapes.c describes the language of shapes.
"""
import glob
import gzip
import json
import os
import re
import sys
import zlib

# The optimized integrations: the service whose API they call, and their actions with the patterns that each
# supports. An action is followed by the operation that it calls where that has another name, "*" where its response
# is that of no operation.
OPTIMIZED = {
	'apigateway': (None, 'invoke:rt'),
	'athena': ('athena', 'getQueryExecution:r getQueryResults:r startQueryExecution:rs stopQueryExecution:r'),
	'batch': ('batch', 'submitJob:rs'),
	'bedrock': ('bedrock', 'createModelCustomizationJob:rs invokeModel:rt:{Body:*,ContentType!:s}'),
	'codebuild': ('codebuild', 'batchDeleteBuilds:r deleteBuildBatch:r retryBuildBatch:rs startBuild:rs'
		' startBuildBatch:rs stopBuild:r stopBuildBatch:r'),
	'databrew': ('databrew', 'startJobRun:rs'),
	'dynamodb': ('dynamodb', 'deleteItem:r getItem:r putItem:r updateItem:r'),
	'ecs': ('ecs', 'runTask:rst'),
	'eks': ('eks', 'call:rt:* createCluster:rs createFargateProfile:rs createNodegroup:rs deleteCluster:rs'
		' deleteFargateProfile:rs deleteNodegroup:rs runJob:rst:*'),
	'elasticmapreduce': ('emr', 'addStep:rs:* cancelStep:r:* createCluster:rs:* modifyInstanceFleetByName:r:*'
		' modifyInstanceGroupByName:r:* setClusterTerminationProtection:r:* terminateCluster:rs:*'),
	'emr-containers': ('emrcontainers', 'createVirtualCluster:r deleteVirtualCluster:rs startJobRun:rs'),
	'emr-serverless': ('emrserverless', 'cancelJobRun:rs createApplication:rs deleteApplication:rs'
		' startApplication:rs startJobRun:rs stopApplication:rs'),
	'events': ('eventbridge', 'putEvents:rt'),
	'glue': ('glue', 'startJobRun:rs'),
	'http': (None, 'invoke:r'),
	'lambda': ('lambda', 'invoke:rt:{ExecutedVersion:s1~1024,FunctionError:s,LogResult:s,Payload:*,StatusCode:n}'),
	'mediaconvert': ('mediaconvert', 'createJob:rs'),
	'sagemaker': ('sagemaker', 'createEndpoint:r createEndpointConfig:r createHyperParameterTuningJob:rs'
		' createLabelingJob:rs createModel:r createProcessingJob:rs createTrainingJob:rs createTransformJob:rs'
		' updateEndpoint:r'),
	'sns': ('sns', 'publish:rt'),
	'sqs': ('sqs', 'sendMessage:rt'),
	'states': ('sfn', 'startExecution:rs2t'),
}

# What is left out: parts of a regular expression that PostgreSQL reads in another way.
FOREIGN = re.compile(r'\\[pPZzQEGkuxhHRXN]|\(\?[^:=!]|[*+?}]\+|&&|\\[0-9]|\[:|\[\^?\]')
REPEATED_MOST = 255


def models(folder):
	"""Yield (name of the folder, newest model) of each service."""
	for service in sorted(os.listdir(folder)):
		files = sorted(glob.glob(os.path.join(folder, service, '*', 'service-2.json*')))
		if files:
			opened = gzip.open(files[-1], 'rt') if files[-1].endswith('.gz') else open(files[-1])
			with opened as file:
				yield service, json.load(file)


def lower_first(name):
	"""Lower the capitals that a name begins with, but the last of several before a small letter: dbInstance, eTag."""
	end = 1
	while end < len(name) and name[end].isupper() and not (end + 1 < len(name) and name[end + 1].islower()):
		end += 1
	return name[:end].lower() + name[end:]


def member_name(name):
	"""Name a member as Step Functions does."""
	name = lower_first(name)
	return name[:1].upper() + name[1:]


def service_names(folder_name, model):
	"""Name a service as Resources do: by its id in lower case, without what the SDKs leave out."""
	full = re.sub('[^a-z0-9]', '', model['metadata'].get('serviceId', folder_name).lower())
	short = re.sub('^(amazon|aws)|service$', '', full) or full
	return [short] + [full] * (full != short)


def number(value):
	"""Write a bound."""
	return '' if value is None else '%d' % value if value == int(value) else repr(value)


def bounds(shape):
	"""Write the bounds of a number, or of the length of a string or a container."""
	if 'min' not in shape and 'max' not in shape:
		return ''
	return number(shape.get('min')) + '~' + number(shape.get('max'))


def pattern(text):
	"""Write a pattern for PostgreSQL, loosened where it counts further than that does; '' where it cannot be read."""
	def repeated(match):
		least, comma, most = match.groups()
		if int(least) > REPEATED_MOST:
			return '{%d,}' % REPEATED_MOST
		return '{%s,}' % least if most and int(most) > REPEATED_MOST else match.group()

	text = text.removeprefix('^')
	if text.endswith('$') and not text.endswith('\\$'):
		text = text[:-1]
	if FOREIGN.search(text) or '\n' in text or not text.isascii() or text in ('.*', '.+', r'[\s\S]*', '[\\S\\s]*'):
		return ''
	text = re.sub(r'\{(\d+)(,?)(\d*)\}', repeated, text)
	return '/' + re.sub(r'\\.|/', lambda m: '\\/' if m.group() == '/' else m.group(), text) + '/'


SIMPLE = dict(string='s', character='s', timestamp='s', blob='s', boolean='b', integer='n', long='n', float='n',
	double='n', bigdecimal='n', biginteger='n')


class Shapes:
	"""The shapes of a service, written once each."""

	def __init__(self, model):
		self.shapes = model['shapes']
		self.uses = {}
		self.numbers = {}
		self.lines = []

	def count(self, name):
		"""Count how often shapes are referred to."""
		self.uses[name] = self.uses.get(name, 0) + 1
		if self.uses[name] == 1:
			shape = self.shapes[name]
			for part in list(shape.get('members', {}).values()) + [shape[k] for k in ('member', 'value') if k in shape]:
				self.count(part['shape'])

	def simple(self, shape):
		"""Write a shape without parts."""
		kind = SIMPLE[shape['type']]
		if shape['type'] in ('timestamp', 'blob', 'boolean') or shape.get('jsonvalue'):
			return kind
		if 'enum' in shape:
			return kind + '(' + '|'.join(re.sub(r'[\\|)]', r'\\\g<0>', word) for word in shape['enum']) + ')'
		return kind + bounds(shape) + (pattern(shape['pattern']) if 'pattern' in shape else '')

	def body(self, name):
		"""Write a shape."""
		shape = self.shapes[name]
		kind = shape['type']
		if shape.get('document') or shape.get('eventstream'):
			return '*'
		if kind == 'list':
			return '[' + self.write(shape['member']['shape']) + ']' + bounds(shape)
		if kind == 'map':
			return '<' + self.write(shape['value']['shape']) + '>' + bounds(shape)
		if kind != 'structure':
			return self.simple(shape)
		required = set(shape.get('required', ()))
		return '{' + ','.join(member_name(key) + '!' * (key in required) + ':' + self.write(part['shape'])
			for key, part in shape['members'].items()) + '}'

	def write(self, name):
		"""Write a shape, or refer to it where others do, too."""
		if name in self.numbers:
			return '@%d' % self.numbers[name]
		if self.uses[name] == 1:
			return self.body(name)
		shape = self.shapes[name]
		if shape['type'] in SIMPLE and len(self.simple(shape)) < 6:
			return self.simple(shape)
		self.numbers[name] = len(self.lines)
		self.lines.append(None)
		self.lines[self.numbers[name]] = self.body(name)
		return '@%d' % self.numbers[name]


def sdk_text(model):
	"""Write the text of a service, and the shapes of its operations by their names."""
	shapes = Shapes(model)
	operations = model['operations']
	for operation in operations.values():
		if 'output' in operation:
			shapes.count(operation['output']['shape'])
	responses = {lower_first(name): shapes.write(operation['output']['shape']) if 'output' in operation else '*'
		for name, operation in sorted(operations.items())}
	return shapes.lines, responses


def service_text(lines, operations):
	"""Write the text of a service; operations are (name, patterns, shape)."""
	return '\n'.join(lines + [''] + [' '.join(operation) for operation in sorted(operations)]) + '\n'


def optimized_text(services, service, actions):
	"""Write the text of an optimized integration, of the shapes of the service that it calls."""
	lines, responses = services.get(service, ([], {}))
	operations = []
	for action in actions.split():
		name, patterns, shape = (action.split(':', 2) + [None])[:3]
		operations.append((name, patterns, responses.get(name, '*') if shape is None else shape))
	return service_text(lines, operations)


def deflate(text):
	"""Compress a text."""
	packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
	return packer.compress(text.encode()) + packer.flush()


def used_lines(text):
	"""Leave out the shapes of a text that no operation refers to."""
	head, _, tail = text.partition('\n\n') if not text.startswith('\n') else ('', '', text[1:])
	lines = head.split('\n') if head else []
	kept, todo = set(), [tail]
	while todo:
		for found in re.findall(r'@(\d+)', todo.pop()):
			if int(found) not in kept:
				kept.add(int(found))
				todo.append(lines[int(found)])
	order = {old: new for new, old in enumerate(sorted(kept))}
	renumber = lambda part: re.sub(r'@(\d+)', lambda m: '@%d' % order[int(m.group(1))], part)
	return '\n'.join([renumber(lines[i]) for i in sorted(kept)] + ['', renumber(tail)])


def main():
	"""Write the file to standard output."""
	if len(sys.argv) > 1:
		folder = sys.argv[1]
		version = re.search(r"__version__ = '(.*)'", open(os.path.join(folder, '..', '__init__.py')).read()).group(1)
	else:
		import botocore
		folder, version = os.path.join(os.path.dirname(botocore.__file__), 'data'), botocore.__version__
	services, entries = {}, []
	for folder_name, model in models(folder):
		names = service_names(folder_name, model)
		if names[0] in services:
			continue			# a second folder of the same service
		services[names[0]] = sdk_text(model)
		lines, responses = services[names[0]]
		entries.append((','.join('aws-sdk:' + name for name in names),
			service_text(lines, [(name, 'rt', shape) for name, shape in responses.items()])))
	for name, (service, actions) in sorted(OPTIMIZED.items()):
		entries.append((name, used_lines(optimized_text(services, service, actions))))
	packed = [(names, text, deflate(text)) for names, text in entries]
	out = sys.stdout.buffer
	out.write(f'sfflow-shapes 1 botocore {version}\n'.encode())
	for names, text, data in packed:
		out.write(f'{names} {len(text.encode())} {len(data)}\n'.encode())
	out.write(b'\n')
	for _, _, data in packed:
		out.write(data)


main()
