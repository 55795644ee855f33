import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { type CalledModel, modelFailure, streamFailure, vendorRefusal } from './failure.ts'

// What a newcomer reads when a model refuses: which model, what its provider said, and what to do.

const openai: CalledModel = { model: 'gpt-4o-mini', key: 'OPENAI_API_KEY', settings: { openaiApiKey: 'sk-my-own-key' } }
const claude: CalledModel = { model: 'claude-haiku-4-5', key: 'ANTHROPIC_API_KEY', settings: {} }
const headers = new Headers()

describe('a refusal names the model, the words of the provider, and what to do', () => {
  test('a wrong key, which the server repeats', () => {
    const body = { message: 'Incorrect API key provided: sk-my-own-key.' }
    expect(modelFailure(new OpenAI.AuthenticationError(401, body, undefined, headers), OpenAI, openai)).toEqual({
      errorCode: '401',
      errorMessage: 'gpt-4o-mini: Incorrect API key provided: [redacted] (HTTP 401). Check OPENAI_API_KEY.',
    })
  })

  test('a key that another one begins with, whole', () => {
    const settings = { googleApiKey: 'my-own-key', openaiApiKey: 'my-own-key-2' }
    expect(vendorRefusal(401, 'Incorrect API key provided: my-own-key-2', { ...openai, settings })).toContain(
      'provided: [redacted] (HTTP 401)',
    )
  })

  test('a wrong name, in the form of Anthropic', () => {
    const body = { type: 'error', error: { type: 'not_found_error', message: 'model: claude-haiku-4-5' } }
    expect(modelFailure(new Anthropic.NotFoundError(404, body, undefined, headers), Anthropic, claude)).toEqual({
      errorCode: '404',
      errorMessage: 'claude-haiku-4-5: model: claude-haiku-4-5 (HTTP 404). Check the name of the model.',
    })
  })

  test('too many requests, and a server that fails', () => {
    expect(vendorRefusal(429, 'Rate limit reached', openai)).toBe(
      'gpt-4o-mini: Rate limit reached (HTTP 429). Try again later, or use another model.',
    )
    expect(vendorRefusal(500, 'The server had an error.', openai)).toBe(
      'gpt-4o-mini: The server had an error (HTTP 500).',
    )
  })
})

test.each([
  ['Node', new TypeError('terminated', { cause: new Error('other side closed') }), 'terminated (other side closed)'],
  ['Google', new Error('Incomplete JSON segment at the end'), 'Incomplete JSON segment at the end'],
])('a stream that is cut off says so: %s', (_, error, reason) => {
  expect(streamFailure(error)).toEqual({
    errorCode: 'TRUNCATED',
    errorMessage: `the model's answer broke off before its end: ${reason}`,
  })
})
