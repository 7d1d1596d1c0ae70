"""Machines that are too large to be seen at once: a net of 60 jobs, one of 300 states; and one of wide names."""
import json

from browser import psql

STATES = [f'State {n:03d}' for n in range(300)]
JOBS = [f'Job {n:02d}' for n in range(60)]
WIDE = [
    'W' * 80,
    '検証と照合を行い結果を報告する処理そのあとで保存する処理をもう一度',
    'M' * 12 + ' ' + 'M' * 13 + ' ' + 'M' * 12,
    'Überprüfungsmaßnahmenkoordinationsstelle_für_Zahlungsabgleich',
    '\ufdfd' * 6,
    'ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔ',
]


def net():
    """A net of ten rows of six jobs; each waits for two of the row before."""
    jobs = {}
    for n, name in enumerate(JOBS):
        after = [JOBS[(n // 6 - 1) * 6 + (n + k) % 6] for k in (0, 1)] if n >= 6 else []
        jobs[name] = {'Type': 'Pass', **({'After': after} if after else {})}
    return {'StartAt': 'Net', 'States': {'Net': {'Type': 'JobNet', 'Jobs': jobs, 'End': True}}}


def line():
    """States after each other, some with a choice that leaves out the next one; the last one fails."""
    states = {}
    for n, name in enumerate(STATES[:-1]):
        after = STATES[n + 1]
        states[name] = {'Type': 'Pass', 'Next': after}
        if n % 10 == 3:
            states[name] = {
                'Type': 'Choice',
                'Choices': [{'Variable': '$.n', 'NumericGreaterThan': n, 'Next': STATES[n + 2]}],
                'Default': after,
            }
    states[STATES[-1]] = {'Type': 'Fail', 'Error': 'Last'}
    return {'StartAt': STATES[0], 'States': states}


def wide():
    """States whose names are wider than most."""
    states = {name: {'Type': 'Pass', 'Next': after} for name, after in zip(WIDE, WIDE[1:])}
    states[WIDE[-1]] = {'Type': 'Succeed'}
    return {'StartAt': WIDE[0], 'States': states}


def make_large():
    """Make them, and an execution of each."""
    for name, definition in (('net60', net()), ('states300', line()), ('wide', wide())):
        text = json.dumps(definition, ensure_ascii=False)
        psql(f"SELECT sf_create_state_machine('{name}', $d${text}$d$)", 'retail')
        psql(f"""SELECT sf_start('{name}', '{{"n": 5}}', 'x')""", 'retail')
        psql(f"CALL sf_wait('{name}:x', '60 s')", 'retail')
