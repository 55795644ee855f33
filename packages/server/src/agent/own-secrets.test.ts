import type { RunEvent } from '@millrace/core'
import { beforeAll, expect, test } from 'vitest'
import { problemFromError } from '../run/ending.ts'
import { knowSecrets, withCleanError, withoutOwnSecrets } from './own-secrets.ts'
import { explainThrown, messageOf } from './problem.ts'

// A server that an agent calls may repeat the key that it refuses. Nobody must read it in an error.

const said = 'the key sk-0123456789 is wrong, and so is its id'
const clean = 'the key [redacted] is wrong, and so is its id'
beforeAll(() => knowSecrets(['sk-0123456789', 'id']))

const problem = { code: 'agent-error', message: said } as const
const cleanProblem = { ...problem, message: clean }
const failing = { author: 'a', errorCode: '401', errorMessage: said }

test.each<[RunEvent, RunEvent]>([
  [
    { kind: 'log', level: 'error', message: said },
    { kind: 'log', level: 'error', message: clean },
  ],
  [
    { kind: 'node.finished', node: 'a@1', status: 'error', error: problem },
    { kind: 'node.finished', node: 'a@1', status: 'error', error: cleanProblem },
  ],
  [
    { kind: 'run.finished', outcome: 'failed', error: problem },
    { kind: 'run.finished', outcome: 'failed', error: cleanProblem },
  ],
  [
    { kind: 'agent', message: 'm', event: failing } as unknown as RunEvent,
    { kind: 'agent', message: 'm', event: { ...failing, errorMessage: clean } } as unknown as RunEvent,
  ],
])('the error in %j has no secret', (event, expected) => {
  expect(withCleanError(event)).toEqual(expected)
})

test.each([null, 7, { kind: 'agent' }, { kind: 'log', message: 7 }, { kind: 'run.finished', error: { message: 7 } }])(
  'what is no event, such as %j, stays as it is',
  (value) => {
    expect(withCleanError(value as unknown as RunEvent)).toEqual(value)
  },
)

test('a thrown error has no secret in its message, its stack and the problem of the run', () => {
  const error = new Error(said)
  expect(messageOf(error)).toBe(clean)
  expect(explainThrown(error).stack).toContain(`Error: ${clean}`)
  expect(problemFromError(error, 'agent-error')).toEqual(cleanProblem)
  expect(explainThrown(Object.assign(new Error(said), { stack: 7 }))).toEqual({ message: clean })
})

test.each([
  ['401 Incorrect API key: Bearer abc.def-0123456789==.', '401 Incorrect API key: Bearer [redacted].'],
  ['provided: sk-proj-abcdefgh12345678', 'provided: [redacted]'],
  ['GET https://x.example/v1?key=AIzaSy0123456789&alt=sse', 'GET https://x.example/v1?key=[redacted]&alt=sse'],
  ['connect postgres://app:pass-word@db.example/x', 'connect postgres://app:[redacted]@db.example/x'],
])('a key that stands in the code of an agent is no part of its errors: %s', (said, shown) =>
  expect(withoutOwnSecrets(said)).toBe(shown),
)

test.each([
  'the bearer of this token',
  'Bearer authentication is needed',
  'task-sk-1',
  'see https://x.example/a?page=12345678',
  'at 10:30@noon',
  'risk-assessment-of-everything',
])('a word that only looks like a key stays: %s', (said) => expect(withoutOwnSecrets(said)).toBe(said))

test('a secret that begins like another one does not leave the rest of it', () => {
  knowSecrets(['word-one', 'word-one-and-more'])
  expect(withoutOwnSecrets('wrong: word-one-and-more, word-one')).toBe('wrong: [redacted], [redacted]')
})
