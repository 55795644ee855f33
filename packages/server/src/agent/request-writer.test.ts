import {
  type Calls,
  callsView,
  fold,
  type Json,
  modelRequestOf,
  type Recorded,
  type RunEvent,
  type RunInput,
} from '@millrace/core'
import { expect, test } from 'vitest'
import { dice } from '../../../core/src/testing/dice.ts'
import type { RunContext } from './agent.ts'
import { CallRecorder, type CallRecording } from './call-recorder.ts'
import { withBase64 } from './redact.ts'
import type { RequestWords } from './request-writer.ts'

const question = { role: 'user', parts: [{ text: 'How far has the fire come since the report of this morning?' }] }
const input: RunInput = { messages: [{ id: 'q', role: 'user', content: question }] }
const started: RunEvent = { kind: 'run.started', agent: 'a', input }
const said = (message: string, text: string): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: message, author: 'a', invocationId: 'r1', timestamp: 1, content: { role: 'model', parts: [{ text }] } },
})
const told = (text: string) => ({ role: 'model', parts: [{ text }] })

/** A run whose events are rows, as the run engine records them. */
function running(
  history: readonly Recorded[] = [],
  recording: CallRecording = { prompts: true },
  run = 'r1',
  secrets: readonly string[] = ['sk-secret-0123'],
) {
  const rows: Recorded[] = [...history]
  let time = 0
  const put = (event: RunEvent): void => {
    rows.push({ seq: rows.length + 1, at: time, run, event })
  }
  put(started)
  const now = (): number => ++time
  const context = { run, history, recording, now, resumed: false } as unknown as RunContext
  const recorder = new CallRecorder(context, input, secrets)
  const emit = (event: RunEvent): void => {
    recorder.note(event)
    put(event)
  }
  return {
    rows,
    emit,
    recorder,
    ask(words: RequestWords, parameters = {}) {
      const call = recorder.begin({ agent: 'a', model: 'm', node: undefined, tools: 0, parameters, words: () => words })
      emit(call.started)
      return call
    },
    calls: (): Calls => fold(callsView, rows),
  }
}

test('SPEC 1.10: what the log has is named, and the rest is in it once', () => {
  const run = running()
  const system = 'You watch over forests. '.repeat(20)
  const fromElsewhere = { role: 'user', parts: [{ text: 'For context: the scout said that the wind has turned.' }] }
  const first = { system, contents: [question, fromElsewhere] }
  run.ask(first)
  run.emit(said('m1', 'It has come two miles since then, and it moves to the east.'))
  const second = {
    system,
    contents: [...first.contents, told('It has come two miles since then, and it moves to the east.')],
  }
  const { started: event } = run.ask(second)
  expect(event.request).toEqual({ like: 'r1/c1', keep: 2, contents: ['@m1'], system: expect.stringMatching(/^#/) })
  expect(modelRequestOf(run.calls(), 'r1/c1')).toEqual(first)
  expect(modelRequestOf(run.calls(), 'r1/c2')).toEqual(second)
})

test('the first request of a run continues the last one of the runs before', () => {
  const before = running()
  before.ask({ system: 'Be brief.', contents: [question] })
  before.emit(said('m1', 'East.'))
  const after = running(before.rows, { prompts: true }, 'r2')
  const { started: event } = after.ask({ system: 'Be brief.', contents: [question, told('East.'), question] })
  expect(event.request).toEqual({ like: 'r1/c1', keep: 1, contents: ['@m1', '@q'], system: expect.any(String) })
  expect(modelRequestOf(after.calls(), 'r2/c1')?.contents).toEqual([question, told('East.'), question])
})

test('whatever messages a request repeats, leaves out or adds, it is read back as it was', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = dice(seed)
    const run = running()
    const known = [question]
    for (let step = 1; step <= 12; step++) {
      for (let i = random(7); i > 0; i--) {
        const text = `finding ${random(5)} that is long enough to be worth a name in the log`
        run.emit(said(`m${run.rows.length}`, text))
        known.push(told(text))
      }
      const added =
        random(3) === 0 ? [told(`a remark of step ${step} that no message of the log has, only this request`)] : []
      const contents = [...known.filter(() => random(4) > 0), ...added]
      run.ask({ contents })
      expect({ seed, step, request: modelRequestOf(run.calls(), `r1/c${step}`) }).toEqual({
        seed,
        step,
        request: { contents },
      })
    }
  }
})

test('SPEC 1.9: secrets are not recorded, by their values and by the names of their keys', () => {
  const run = running()
  const args = { authorization: 'Bearer abc', password: 'hunter2', schema: { password: { type: 'string' } } }
  const call = { role: 'model', parts: [{ functionCall: { name: 'send', args } }] }
  const file = { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGVsbG8='.repeat(20) } }] }
  const spoken = { role: 'user', parts: [{ text: 'my key is sk-secret-0123, do not tell' }] }
  run.ask({ system: 'Use sk-secret-0123.', contents: [call, spoken, file] }, { headers: { 'x-api-key': 'abc' } })
  const text = JSON.stringify(run.rows)
  for (const secret of ['sk-secret-0123', 'Bearer abc', 'hunter2', 'aGVsbG8=', '"abc"'])
    expect(text).not.toContain(secret)
  const request = modelRequestOf(run.calls(), 'r1/c1')
  expect(request?.system).toBe('Use [redacted].')
  expect(request?.contents).toMatchObject([
    { parts: [{ functionCall: { args: { password: '[redacted]', schema: { password: { type: 'string' } } } } }] },
    { parts: [{ text: 'my key is [redacted], do not tell' }] },
    { parts: [{ inlineData: { data: '(160 characters)' } }] },
  ])
})

test.each([
  ['as Basic sends it with a user', Buffer.from('user:wk-9f8e7d6c5b4a3210').toString('base64')],
  ['in base64', Buffer.from('wk-9f8e7d6c5b4a3210').toString('base64')],
  ['in the code, behind the name of the header', 'Authorization: Basic dXNlcjpsZXRtZWlu'],
  ['in the code, of a well-known service', 'sk-live-1234567890abcdefghij'],
])('SPEC 1.9: a key is not recorded %s', (_, secret) => {
  const run = running([], { prompts: true }, 'r1', withBase64('wk-9f8e7d6c5b4a3210'))
  const text = `Call it with ${secret} and be brief.`
  run.ask({ system: text, contents: [{ role: 'user', parts: [{ text: `${text} Now.`.repeat(3) }] }] })
  expect(modelRequestOf(run.calls(), 'r1/c1')?.system).toMatch(/^Call it with .*\[redacted\].* and be brief\.$/)
  expect(JSON.stringify(run.rows)).not.toContain(secret.slice(-16))
})

test('SPEC 1.9: the key of a server that wants none is a word like any other', () => {
  const run = running([], { prompts: true }, 'r1', ['x', 'none'])
  const words = {
    system: 'Examine it; none is missing.',
    contents: [{ role: 'user', parts: [{ text: 'next? '.repeat(20) }] }],
  }
  run.ask(words)
  expect(modelRequestOf(run.calls(), 'r1/c1')).toEqual(words)
})

test('SPEC 1.9: a secret is left out of names and texts, also behind a line break and inside another one', () => {
  const run = running([], { prompts: true }, 'r1', ['nopassword', 'nopassword-2', 'tabular\tsecret'])
  const text = 'long enough to be a value of its own: \nopassword, nopassword-2, nopassword. tabular\tsecret'
  const call = run.ask(
    { system: text, contents: [] },
    { nopassword: 1, 'x-goog-api-key': 'AIza', dbPassword: 'hunter2' },
  )
  expect(modelRequestOf(run.calls(), 'r1/c1')?.system).toBe(
    'long enough to be a value of its own: \nopassword, [redacted], [redacted]. [redacted]',
  )
  expect(call.started.parameters).toEqual({
    '[redacted]': 1,
    'x-goog-api-key': '[redacted]',
    dbPassword: '[redacted]',
  })
})

test('without prompts, a record has figures and no words', () => {
  const run = running([], { prompts: false })
  const call = run.ask({ system: 'Be brief.', contents: [question] }, { temperature: 0 })
  call.heard()
  call.answered('m1', { usage: { inputTokens: 3 }, response: told('word') })
  const end = call.finish()
  expect(JSON.stringify([call.started, end])).not.toMatch(/brief|word/)
  expect(call.started).toEqual({
    kind: 'model.started',
    call: 'c1',
    agent: 'a',
    model: 'm',
    tools: 0,
    parameters: { temperature: 0 },
  })
  expect(end).toMatchObject({ status: 'ok', firstToken: 1, duration: 1, usage: { inputTokens: 3 }, messages: ['m1'] })
})

test('a call that stalled took until it failed, and what fails after an answer is no failure of the model', () => {
  const failure = { code: 'model-error', message: 'silent' } as const
  const run = running([], { prompts: false })
  const stalled = run.ask({ contents: [] })
  stalled.heard()
  run.recorder.begin({ agent: 'a', node: undefined })
  expect(stalled.finish(failure)).toMatchObject({ status: 'error', firstToken: 1, duration: 3, error: failure })
  const answered = run.ask({ contents: [] })
  answered.heard()
  answered.answered('m1', { finishReason: 'STOP' })
  const end = answered.finish(failure)
  expect(end).toMatchObject({ status: 'ok', duration: 1 })
  expect(end).not.toHaveProperty('error')
})

test('a call has a cost where the price of its model is known', () => {
  const price = { input: 1, output: 10, cachedInput: 0.5 }
  const run = running([], { prompts: false, prices: { currency: 'EUR', models: { m: price } } })
  const call = run.ask({ contents: [] })
  call.answered(undefined, {
    usage: { inputTokens: 1e6, cachedInputTokens: 4e5, outputTokens: 1e5, reasoningTokens: 1e5 },
  })
  expect(call.finish().cost).toEqual({ amount: 0.6 + 0.2 + 2, currency: 'EUR' })
  const other = run.recorder.begin({
    agent: 'a',
    model: 'other',
    node: undefined,
    tools: 0,
    words: () => ({ contents: [] }),
  })
  other.answered(undefined, { usage: { inputTokens: 1 } })
  expect(other.finish().cost).toBeUndefined()
  expect(run.recorder.usage).toMatchObject({ inputTokens: 1_000_001, modelCalls: 2 })
})

test('a request that is too large or no JSON is left out, and the record says why', () => {
  const run = running()
  const large = { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(1_100_000) }] }] }
  expect(run.ask(large).started.request).toEqual({ contents: [], omitted: expect.stringContaining('characters') })
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  expect(run.ask({ contents: [{ role: 'user', parts: [cyclic] }] }).started.request?.omitted).toContain('not JSON')
  expect(run.ask({ contents: [question] }).started.request).toEqual({ contents: ['@q'] })
})

test('what a callback changes in a request that was sent, or in the instruction, is told as it was then', () => {
  const run = running()
  const long = 'You watch over forests. '.repeat(20)
  const asked = { role: 'user', parts: [{ text: 'For context: the scout said that the wind has turned.' }] }
  const words = { system: { parts: [{ text: long }] }, contents: [asked] }
  for (const text of [long, long, `${long}Be brief.`]) {
    words.system.parts[0] = { text }
    run.ask(words)
    // The same objects are sent again with other words in them.
    asked.parts[0] = { text: `${asked.parts[0]?.text} It is late.` }
  }
  const requests = run.calls().calls.toArray()
  const told = requests.map(({ key }) => modelRequestOf(run.calls(), key))
  expect(told.map((each) => JSON.stringify(each?.contents).split('It is late.').length - 1)).toEqual([0, 1, 2])
  expect(told.map((each) => JSON.stringify(each?.system).includes('Be brief.'))).toEqual([false, false, true])
})

test('what a graph changes in the arguments of a call that the log has is told as it was sent', () => {
  const run = running()
  const args = { place: 'the ridge above Cedar Creek, where the fire was seen first' }
  const calling = { role: 'model', parts: [{ functionCall: { name: 'look', args } }] }
  const event = { id: 'm1', author: 'a', invocationId: 'r1', timestamp: 1, content: calling }
  // LangChain's messages hand over their own objects, and the log prints an event when it is yielded.
  run.recorder.note({ kind: 'agent', message: 'm1', event })
  run.rows.push({ seq: 2, at: 1, run: 'r1', event: structuredClone({ kind: 'agent', message: 'm1', event }) })
  const sent: Json[] = []
  for (const place of [args.place, '(left out, because the conversation was too long)']) {
    args.place = place
    const contents = [question, calling]
    sent.push(structuredClone(contents))
    run.ask({ contents })
  }
  const requests = ['r1/c1', 'r1/c2'].map((key) => modelRequestOf(run.calls(), key)?.contents)
  expect(requests).toEqual(sent)
})
