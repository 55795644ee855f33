import { LlmAgent } from '@google/adk'
import { afterEach, describe, expect, test } from 'vitest'
import { model } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import type { ModelSettings } from '../../../packages/server/src/agent/model/settings.ts'
import { type Answer, events, type ModelServer, modelServer } from '../model-server.ts'
import { outline, said, testSession } from '../run-agent.ts'

// What every vendor's SDK does with a server that falls silent, and with chunks that no client can read.

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const vendors: readonly [string, (url: string) => ModelSettings][] = [
  ['gemini', (url) => ({ googleApiKey: 'key', googleBaseUrl: url })],
  ['anthropic', (url) => ({ anthropicApiKey: 'key', anthropicBaseUrl: url })],
  ['openai', (url) => ({ model: 'openai:llama3.2', openaiApiKey: 'key', openaiBaseUrl: `${url}/v1` })],
]
const run = async (answer: Answer, settings: (url: string) => ModelSettings, more: ModelSettings = {}) => {
  server = await modelServer([answer])
  const root = new LlmAgent({ name: 'root', model: model() })
  return testSession(adkAgent('root', async () => root, { models: { ...settings(server.url), ...more } })).run('go')
}

describe.each(vendors)('%s', (vendor, settings) => {
  const silences: readonly [string, Answer][] = [
    ['before its answer', () => undefined],
    [
      'after its headers',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    ],
  ]
  test.each(silences)('silence %s fails the run with the setting to change', async (_, answer) => {
    const seen = await run(answer, settings, { timeout: 0.05 })
    expect(seen.at(-1)).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'model-error',
        source: 'TIMEOUT',
        message:
          'the model sent nothing for 0.05 s; set MILLRACE_MODEL_TIMEOUT (seconds, 0 for no limit) if it needs longer',
      },
    })
  })
  test('a chunk that is not JSON fails the run: each of the SDKs gives up there', async () => {
    const broken: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`${vendor === 'anthropic' ? 'event: message_start\n' : ''}data: {"candidates\n\n`)
    }
    const seen = await run(broken, settings)
    expect(seen.at(-1)).toMatchObject({
      error: { code: 'model-error', message: expect.stringContaining('a chunk that is not JSON') },
    })
  })
})

test('openai: a chunk that is JSON but no object is skipped, and the log says so', async () => {
  const delta = (of: object, finish_reason: string | null = null) => ({
    id: 'c',
    model: 'llama3.2',
    choices: [{ index: 0, delta: of, finish_reason }],
  })
  const [, settings] = vendors[2] ?? ['', () => ({})]
  const answer = events([delta({ content: 'Clear.' }), 'null', '7', delta({}, 'stop'), '[DONE]'])
  const seen = await run(answer, settings)
  expect(outline(said(seen)).at(-1)).toBe('root “Clear.”')
  expect(seen.filter((event) => event.kind === 'log')).toMatchObject([
    {
      level: 'warn',
      node: 'root@1',
      message: expect.stringMatching(/chunk that is not an object; it was skipped: null/),
    },
    { level: 'warn', message: expect.stringContaining('7') },
  ])
})
