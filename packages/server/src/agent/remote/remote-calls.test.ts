import { type Call, callsView, fold, type Recorded, usageView } from '@millrace/core'
import { afterEach, expect, test } from 'vitest'
import { exampleAgents } from '../../../../../test/kit/built-packages.ts'
import { events, modelServer } from '../../../../../test/kit/model-server.ts'
import { type Front, frontOf } from '../../../../../test/kit/remote-front.ts'
import { testServer } from '../../../../../test/kit/server.ts'
import { discoverAgents } from '../catalog.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Both {
  readonly here: readonly Recorded[]
  readonly there: readonly Recorded[]
}

/** The log of one run of an example agent behind the wire, and in front of it. */
async function runBoth(agent: string, message: string): Promise<Both> {
  const { agents } = discoverAgents(exampleAgents, { models: { tokensPerSecond: 0 } })
  const far = agents.get(agent)
  if (far === undefined) throw new Error(`no ${agent}`)
  const upstream = await testServer({ with: [far] })
  const url = await upstream.app.listen({ port: 0, host: '127.0.0.1' })
  closing.push(() => upstream.close(0))
  const front: Front = await frontOf({ url, dialect: 'adk', app: agent })
  closing.push(() => front.close())
  const here = await front.run('s1', message)
  return { here, there: await upstream.log.read('s1', { after: 0 }) }
}

const modelCalls = (rows: readonly Recorded[]): readonly Call[] =>
  fold(callsView, rows)
    .calls.toArray()
    .filter(({ kind }) => kind === 'model')
/** What a wire can tell of a call. */
const told = ({ agent, name, status, usage, finishReason, messages }: Call) => ({
  agent,
  name,
  status,
  usage,
  finishReason,
  messages: messages?.length,
})

test.each([
  ['assistant', 'What is the weather in Lisbon?'],
  ['research', 'How do heat pumps work in the cold?'],
  ['recovery', 'Brief me on the Cedar Creek fire'],
])('the records of a remote %s are those of the server that ran it', async (agent, message) => {
  const { here, there } = await runBoth(agent, message)
  const [ours, theirs] = [modelCalls(here), modelCalls(there)]
  expect(theirs.length).toBeGreaterThan(1)
  expect(ours.map(told)).toEqual(theirs.map(told))
  for (const call of ours) {
    expect(call).toMatchObject({ remote: true, recorded: false, duration: expect.any(Number) })
    expect(call.duration).toBeGreaterThanOrEqual(call.firstToken ?? 0)
    expect(call.startedAt).toBeGreaterThanOrEqual(here[0]?.at ?? 0)
    expect(call.endedAt).toBeGreaterThanOrEqual(call.startedAt)
  }
  const [mine, other] = [fold(usageView, here), fold(usageView, there)]
  expect(mine.total).toEqual(other.total)
  expect(mine.agents.toArray().map(({ agent: name, usage }) => [name, usage])).toEqual(
    other.agents.toArray().map(({ agent: name, usage }) => [name, usage]),
  )
})

test('over AG-UI the calls are those of the LangGraph events that come along, and tokens that only the end tells count', async () => {
  const raw = (event: string, data: object) => ({
    type: 'RAW',
    event: {
      event,
      run_id: 'lc1',
      name: 'ChatOpenAI',
      metadata: { langgraph_node: 'write', ls_model_name: 'gpt-4o' },
      data,
    },
  })
  const output = {
    id: 'm1',
    usage_metadata: { input_tokens: 5, output_tokens: 3, total_tokens: 8, output_token_details: { reasoning: 1 } },
    response_metadata: { finish_reason: 'stop' },
  }
  const run = { threadId: 't', runId: 'r' }
  const words = [
    { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Small.' },
  ]
  const end = { type: 'TEXT_MESSAGE_END', messageId: 'm1' }
  const step = (type: string) => ({ type, stepName: 'write' })
  const told = [
    { type: 'RUN_STARTED', ...run },
    step('STEP_STARTED'),
    raw('on_chat_model_start', { input: {} }),
    raw('on_chat_model_stream', { chunk: { content: 'Small.' } }),
    ...words,
    raw('on_chat_model_end', { output }),
    end,
    step('STEP_FINISHED'),
    { type: 'RUN_FINISHED', ...run },
  ]
  const usage = [{ model: 'gpt-4o', inputTokens: 5, outputTokens: 3, totalTokens: 8 }]
  const plain = [{ type: 'RUN_STARTED', ...run }, ...words, end, { type: 'RUN_FINISHED', ...run, usage }]
  const server = await modelServer([events(told), events(plain)])
  closing.push(server.close)
  const front = await frontOf({ url: server.url, dialect: 'ag-ui' })
  closing.push(() => front.close())

  const rows = await front.run('s1', 'How large?')
  expect(modelCalls(rows)).toMatchObject([
    {
      agent: 'write',
      node: 'write@1',
      name: 'gpt-4o',
      status: 'ok',
      remote: true,
      recorded: false,
      firstToken: expect.any(Number),
      finishReason: 'stop',
      usage: { inputTokens: 5, outputTokens: 2, reasoningTokens: 1, totalTokens: 8 },
      cost: { currency: 'USD' },
      messages: ['m1'],
    },
  ])
  expect(fold(usageView, rows).total).toEqual({
    modelCalls: 1,
    inputTokens: 5,
    outputTokens: 2,
    reasoningTokens: 1,
    totalTokens: 8,
  })

  const silent = await front.run('s2', 'How large?')
  expect(modelCalls(silent)).toEqual([])
  expect(fold(usageView, silent).total).toEqual({ modelCalls: 1, inputTokens: 5, outputTokens: 3, totalTokens: 8 })
})
