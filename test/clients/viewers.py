#!/usr/bin/env python3
"""People who look at the console: each signs in, waits for changes, and has a page come up to date, as the pages do.

    viewers.py HOST PORT NUMBER SECONDS

Viewer n signs in as viewer<n/10> with the password retail-secret. After SECONDS all sign out. It prints one line of JSON:
how many signed in, how many answers of which kind came, and the first errors.
"""
import asyncio
import collections
import json
import random
import sys
import time

HOST, PORT, NUMBER, SECONDS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
ORIGIN = f'http://{HOST}:{PORT}'
END = time.time() + SECONDS
PAGES = [('tonight', {}), ('executions', {'limit': 50}), ('machines', {'limit': 200}), ('alerts', {'limit': 200}),
         ('executions', {'path': '$.n', 'value': '17', 'limit': 50}), ('operations', {})]
answers = collections.Counter()
errors = []


class Connection:
    """A connection that stays, as a browser's."""

    def __init__(self):
        self.reader = self.writer = None
        self.headers = {}

    async def ask(self, path, body):
        """Send a request, and give the status, the headers and the answer.

        A server may close a connection that is idle just when a request is on its way, so a browser sends it once more.
        """
        if self.writer is not None:
            try:
                return await self.exchange(path, body)
            except (asyncio.IncompleteReadError, ConnectionError) as lost:
                if getattr(lost, 'partial', b''):
                    raise
                self.writer.close()
                self.writer = None
        return await self.exchange(path, body)

    async def exchange(self, path, body):
        """Send a request once, over the connection that there is or a new one."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(HOST, PORT)
        text = json.dumps(body).encode()
        lines = [f'POST {path} HTTP/1.1', f'Host: {HOST}:{PORT}', f'Origin: {ORIGIN}', 'Content-Type: application/json',
                 f'Content-Length: {len(text)}'] + [f'{name}: {value}' for name, value in self.headers.items()]
        self.writer.write('\r\n'.join(lines).encode() + b'\r\n\r\n' + text)
        head = (await self.reader.readuntil(b'\r\n\r\n')).decode().split('\r\n')
        headers = {line.split(':')[0].lower(): line.split(':', 1)[1].strip() for line in head[1:] if ':' in line}
        body = await self.reader.readexactly(int(headers.get('content-length', 0)))
        status = int(head[0].split()[1])
        answers[f'{path.rsplit("/", 1)[-1]} {status}'] += 1
        if headers.get('connection') == 'close':
            self.writer.close()
            self.writer = None
        return status, headers, json.loads(body) if body else None


async def viewer(number):
    """One person: two connections, one that waits and one that asks."""
    asks, waits = Connection(), Connection()
    await asyncio.sleep(random.random() * min(10.0, SECONDS / 5))
    status, headers, answer = await asks.ask('/console/login', {'role': f'viewer{number // 10}', 'password': 'retail-secret'})
    if status != 200:
        raise RuntimeError(f'login: {status} {answer}')
    for connection in (asks, waits):
        connection.headers = {'Cookie': headers['set-cookie'].split(';')[0], 'X-CSRF-Token': answer['csrf_token']}

    async def wait():
        seen = None
        while seen is None or time.time() < END:  # once, however late the viewer has signed in
            status, _, answer = await waits.ask('/console/poll', {'seen': seen})
            if status != 200:
                raise RuntimeError(f'poll: {status} {answer}')
            seen = answer['token']

    async def look():
        while time.time() < END:
            action, request = random.choice(PAGES)
            status, _, answer = await asks.ask(f'/console/api/{action}', request)
            if status != 200:
                raise RuntimeError(f'{action}: {status} {answer}')
            await asyncio.sleep(min(random.uniform(4, 16), max(END - time.time(), 0)))
    await asyncio.gather(look(), wait())
    await asks.ask('/console/logout', {})


async def main():
    """All of them; one that fails does not keep the others."""
    done = await asyncio.gather(*(viewer(n) for n in range(NUMBER)), return_exceptions=True)
    errors.extend(repr(x) for x in done if x is not None)
    print(json.dumps({'signed_in': answers['login 200'], 'answers': dict(sorted(answers.items())), 'errors': errors[:5]}))

asyncio.run(main())
