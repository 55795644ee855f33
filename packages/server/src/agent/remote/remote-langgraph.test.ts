import { readFileSync } from 'node:fs'
import { callsView, fold, modelRequestOf, problemsView, type Recorded, type RunInput, usageView } from '@millrace/core'
import { afterEach, expect, test } from 'vitest'
import { events, modelServer } from '../../../../../test/kit/model-server.ts'
import { ending, frontOf, spoken } from '../../../../../test/kit/remote-front.ts'

// What LangGraph's AG-UI adapter wrote for two turns of one conversation; the file says how it was recorded.
const file = new URL('../../../../../vectors/foreign/ag-ui-langgraph.json', import.meta.url)
const { turns, thread } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly turns: readonly (readonly object[])[]
  readonly thread: string
}

interface Snapshot {
  readonly messages: readonly { readonly id: string }[]
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const asked = (id: string, text: string): Pick<RunInput, 'messages'> => ({
  messages: [{ id, role: 'user', content: { role: 'user', parts: [{ text }] } }],
})
const whole = (rows: readonly Recorded[]): readonly string[] =>
  rows.flatMap(({ event }) => (event.kind === 'agent' && event.event.partial !== true ? [event.message] : []))

test('a graph behind AG-UI: each message once, records with requests, tokens counted once', async () => {
  const upstream = await modelServer(turns.map((turn) => events(turn)))
  closing.push(upstream.close)
  const front = await frontOf({ url: upstream.url, dialect: 'ag-ui' })
  closing.push(() => front.close())
  const first = await front.run(thread, asked('m1', 'What colour?'))
  const second = await front.run(thread, asked('m2', 'And again?'))
  for (const rows of [first, second]) {
    expect(ending(rows)).toBe('done')
    // A call, its result, the answer. The conversation that ends each run repeats them, and all before them.
    expect(whole(rows)).toHaveLength(3)
    expect(spoken(rows)).toEqual(['The sky is blue.'])
    expect(rows.filter(({ event }) => event.kind === 'superseded')).toEqual([])
    expect(fold(problemsView, rows).problems.toArray()).toEqual([])
    const { total } = fold(usageView, rows)
    const [sum] = rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event.usage] : []))
    expect(total).toEqual({ ...sum, modelCalls: 2 })
  }

  const calls = fold(callsView, first)
  const models = calls.calls.toArray().filter(({ kind }) => kind === 'model')
  expect(models).toMatchObject([
    { agent: 'talk', node: 'talk@1', name: 'gpt-4o', status: 'ok', remote: true, recorded: true, finishReason: 'stop' },
    { agent: 'talk', node: 'talk@2', name: 'gpt-4o', status: 'ok', remote: true, recorded: true, finishReason: 'stop' },
  ])
  // The answer of each call is a message that still counts.
  expect(models.map(({ messages }) => messages)).toEqual([whole(first).slice(0, 1), whole(first).slice(2)])
  const request = modelRequestOf(calls, models[1]?.key ?? '')
  expect(request).toMatchObject({
    system: 'Be brief.',
    contents: [
      { role: 'user', parts: [{ text: 'What colour?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 'sky' } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { result: 'blue' } } }] },
    ],
  })

  // The next request names the messages as the graph does: under other ids it would take them for new ones.
  const [retold] = (turns[0] ?? []).filter(
    (event): event is Snapshot => Reflect.get(event, 'type') === 'MESSAGES_SNAPSHOT',
  )
  const [, sent] = upstream.requests
  expect(sent?.body.messages.map(({ id }: { id: string }) => id)).toEqual([
    ...(retold?.messages ?? []).map(({ id }) => id),
    'm2',
  ])
})

test('with prompts off, neither the records nor the events that come along hold what the model was told', async () => {
  const upstream = await modelServer(turns.map((turn) => events(turn)))
  closing.push(upstream.close)
  const front = await frontOf({ url: upstream.url, dialect: 'ag-ui' }, undefined, { recordPrompts: () => false })
  closing.push(() => front.close())
  const rows = await front.run(thread, asked('m1', 'What colour?'))
  expect(ending(rows)).toBe('done')
  const models = fold(callsView, rows)
    .calls.toArray()
    .filter(({ kind }) => kind === 'model')
  expect(models).toMatchObject([{ recorded: false }, { recorded: false }])
  expect(JSON.stringify(rows)).not.toContain('Be brief.')
  expect(JSON.stringify(rows)).toContain('on_chat_model_start')
})
