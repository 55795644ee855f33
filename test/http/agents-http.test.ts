import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type AdkEvent, type AdkPart, type RunEvent, sseReader } from '@millrace/core'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { testServer } from '../kit/server.ts'

/** Agents out of a folder, behind the server as a client meets it. */
const models = { tokensPerSecond: 0 }
let folder = ''
let server: Awaited<ReturnType<typeof testServer>>
let address = ''

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-http-'))
  await write(
    'notes/agent.ts',
    `import { FunctionTool, LlmAgent } from '@google/adk'
     import { call, model, say, z } from '@millrace/server/adk'
     const counted = globalThis as { notesLoaded?: number }
     counted.notesLoaded = (counted.notesLoaded ?? 0) + 1
     const save = new FunctionTool({
       name: 'save', description: 'Saves', parameters: z.object({ text: z.string() }),
       execute: async ({ text }, context) => ({ version: await context?.saveArtifact('notes.md', { text }) }),
     })
     export const rootAgent = new LlmAgent({
       name: 'notes', tools: [save],
       model: model({ offline: ({ user, step, result }) => step === 0 ? call('save', { text: user }) : say(JSON.stringify(result('save'))) }),
     })`,
  )
  await write('broken/agent.ts', "throw new Error('DATABASE_URL is not set')")
  const shipped = discoverAgents(exampleAgents, { models })
  const own = discoverAgents(folder, { models })
  server = await testServer({ agents: { agents: new Map([...own.agents, ...shipped.agents]) } })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server.close(0)
  await rm(folder, { recursive: true, force: true })
})

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const get = async (path: string): Promise<unknown> => (await fetch(`${address}${path}`)).json()

/** The ADK events of one `/run_sse`. */
async function runSse(app: string, session: string, text: string, streaming: boolean): Promise<readonly AdkEvent[]> {
  await post(`/apps/${app}/users/u/sessions/${session}`, {})
  const newMessage = { role: 'user', parts: [{ text }] }
  const answer = await post('/run_sse', { appName: app, userId: 'u', sessionId: session, newMessage, streaming })
  const frames = sseReader().feed(await answer.text())
  return frames.flatMap(({ data }) => (data.startsWith('{') ? [JSON.parse(data) as AdkEvent] : []))
}
const partsOf = ({ content }: AdkEvent): readonly AdkPart[] => content?.parts ?? []
const shapeOf = (event: AdkEvent): readonly string[] =>
  partsOf(event).map(({ functionCall, functionResponse }) => {
    if (functionCall !== undefined) return `call ${functionCall.name}`
    return functionResponse === undefined ? 'text' : `answer ${functionResponse.name}`
  })

describe('recovery over /run_sse', () => {
  const brief = 'Give me a recovery briefing for Cedar Creek Fire'
  const team = ['burn_analyst', 'trail_assessor', 'cruising_assistant', 'nepa_advisor']
  const asked = ['cruising_assistant', 'nepa_advisor']

  test('without streaming it is five events of the coordinator, under one invocation', async () => {
    const events = await runSse('recovery', 'whole', brief, false)
    expect(events.map(shapeOf)).toEqual([
      team.map((name) => `call ${name}`),
      team.map((name) => `answer ${name}`),
      asked.map((name) => `call ${name}`),
      asked.map((name) => `answer ${name}`),
      ['text'],
    ])
    expect(new Set(events.map(({ author }) => author))).toEqual(new Set(['coordinator']))
    expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1)
    expect(events.some(({ partial }) => partial === true)).toBe(false)
  })

  test('with streaming the deltas and the specialists’ own words are there too', async () => {
    const events = await runSse('recovery', 'streamed', brief, true)
    expect(new Set(events.map(({ author }) => author))).toEqual(new Set(['coordinator', ...team]))
    expect(events.filter(({ partial }) => partial === true).length).toBeGreaterThan(50)
    expect(new Set(events.map(({ invocationId }) => invocationId)).size).toBe(1)
  })
})

describe('artifacts that an ADK tool saved', () => {
  test('are served by name and version', async () => {
    const at = '/apps/notes/users/u/sessions/s1/artifacts'
    await runSse('notes', 's1', 'one', false)
    await runSse('notes', 's1', 'two', false)
    expect(await get(at)).toEqual(['notes.md'])
    expect(await get(`${at}/notes.md/versions`)).toEqual([0, 1])
    expect(await get(`${at}/notes.md`)).toMatchObject({ text: 'two' })
    expect(await get(`${at}/notes.md/versions/0`)).toMatchObject({ text: 'one' })
    expect((await fetch(`${address}${at}/notes.md/versions/2`)).status).toBe(404)
  })

  test('SPEC 4.6: what a step saved that a crash cut off and that ran again is not', async () => {
    const at = '/apps/notes/users/u/sessions/cut/artifacts'
    await post('/apps/notes/users/u/sessions/cut', {})
    const save = (name: string, node: string, text: string): RunEvent => ({
      kind: 'artifact',
      id: `${node} ${name}`,
      name,
      type: 'note',
      version: 1,
      part: { text },
      node,
    })
    const events: readonly RunEvent[] = [
      { kind: 'run.started', agent: 'notes', input: { messages: [] } },
      save('plan.md', 'plan@1', 'plan'),
      save('draft.md', 'write@1', 'lost'),
      save('lost.md', 'write@1', 'lost'),
      { kind: 'superseded', messages: [], nodes: ['write@1'], facts: true },
      save('draft.md', 'write@2', 'draft'),
      { kind: 'run.finished', outcome: 'done' },
    ]
    const lease = await server.log.acquire('cut', 'r', 'test', 60_000)
    await server.log.append(
      'cut',
      events.map((event) => ({ run: 'r', event })),
      lease,
    )
    await server.log.release(lease)
    expect(await get(at)).toEqual(['plan.md', 'draft.md'])
    expect(await get(`${at}/draft.md/versions`)).toEqual([1])
    expect(await get(`${at}/draft.md/versions/1`)).toEqual({ text: 'draft' })
  })
})

describe('the agents of a folder', () => {
  test('one that does not load is listed with its error, and the others run', async () => {
    const agents = await loadedAgents(address)
    expect(agents.map(({ name }) => name)).toEqual(['broken', 'notes', 'assistant', 'planner', 'recovery', 'research'])
    expect(agents[0]).toMatchObject({ engine: 'broken', error: expect.stringContaining('DATABASE_URL is not set') })
    for (const { engine } of agents.slice(1)) expect(engine).not.toBe('broken')
  })

  test('a run of one that does not load fails with the reason', async () => {
    const answer = await post('/sessions/b1/runs', {
      agent: 'broken',
      run: 'r1',
      input: { messages: [{ id: 'm', role: 'user', content: { parts: [{ text: 'hi' }] } }] },
    })
    expect(answer.status).toBe(201)
    expect(await server.engine.wait('b1', 'r1')).toBe('failed')
    const end = (await server.log.read('b1', { after: 0 })).at(-1)?.event
    expect(end).toMatchObject({ error: { code: 'agent-error', message: expect.stringContaining('DATABASE_URL') } })
  })

  test('a file is loaded once, whoever asks, and as often as they ask', async () => {
    await Promise.all([get('/agents'), get('/agents'), runSse('notes', 's2', 'three', false)])
    await runSse('notes', 's3', 'four', false)
    expect((globalThis as { notesLoaded?: number }).notesLoaded).toBe(1)
  })
})

describe('what agents are told', () => {
  const told = async (recordPrompts: boolean): Promise<string> => {
    await write(
      'keyed/agent.ts',
      `import { FunctionTool, LlmAgent } from '@google/adk'
       import { call, model, z } from '@millrace/server/adk'
       const key = process.env.WEATHER_API_KEY
       const look = new FunctionTool({ name: 'look', description: \`Asks with \${key}\`, parameters: z.object({}), execute: () => ({}) })
       export const rootAgent = new LlmAgent({
         name: 'keyed', description: \`Has \${key}\`, instruction: \`Be terse. Use \${key}.\`, tools: [look],
         model: model({ offline: () => call('look', {}) }),
       })
       export const examples = [\`Try \${key}\`]`,
    )
    process.env.WEATHER_API_KEY = 'wk-9f8e7d6c5b4a3210'
    const own = discoverAgents(folder, { models, env: () => process.env })
    const one = await testServer({ agents: own, recordPrompts: () => recordPrompts })
    try {
      const paths = ['/agents', '/api/projects/keyed', '/ag-ui/keyed/capabilities', '/dev/apps/keyed/build_graph']
      const answers = await Promise.all(paths.map((url) => one.app.inject({ url })))
      return answers.map(({ body }) => body).join('\n')
    } finally {
      await one.close(0)
      await own.close()
      delete process.env.WEATHER_API_KEY
    }
  }

  test('is not listed where prompts are not recorded', async () => {
    expect(await told(true)).toContain('Be terse.')
    expect(await told(false)).not.toContain('Be terse.')
  })

  test('is listed without keys', async () => {
    expect(await told(true)).not.toContain('wk-9f8e7d6c5b4a3210')
  })
})
