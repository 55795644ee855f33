import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'

// ADK's state scopes, memory, artifacts and long-running tools on the built server, which is killed and started again.

const root = mkdtempSync(join(tmpdir(), 'millrace-services-'))
const agent = `
import { FunctionTool, LlmAgent, LOAD_MEMORY, LongRunningFunctionTool } from '@google/adk'
import { call, model, say, z } from '@millrace/server/adk'
const keep = new FunctionTool({
  name: 'keep',
  description: 'Keeps a value and a file',
  parameters: z.object({ value: z.string() }),
  execute: async ({ value }, context) => {
    context.state.set('user:name', value)
    context.state.set('app:visits', 1)
    context.state.set('temp:scratch', value)
    return { version: await context.saveArtifact('user:note.txt', { text: value }) }
  },
})
const approve = new LongRunningFunctionTool({
  name: 'approve',
  description: 'Asks a manager',
  parameters: z.object({}),
  execute: () => ({ status: 'pending' }),
})
const leave = new FunctionTool({
  name: 'leave',
  description: 'Asks for days off; whoever confirms it says how many',
  parameters: z.object({}),
  execute: (_args, context) => {
    if (context.toolConfirmation !== undefined) return { days: context.toolConfirmation.payload.days }
    context.requestConfirmation({ hint: 'How many days?', payload: { days: 0 } })
    return { status: 'asked' }
  },
})
export const rootAgent = new LlmAgent({
  name: 'helper',
  instruction: 'The user is {user:name?}.',
  model: model({ offline: ({ step, user, instruction, result }) => {
    const [word, ...rest] = user.split(' ')
    const args = { keep: { value: rest.join(' ') }, load_memory: { query: rest.join(' ') }, approve: {}, leave: {} }[word]
    if (args !== undefined) return step === 0 ? call(word, args) : say(JSON.stringify(result(word)))
    return say(instruction)
  } }),
  tools: [keep, approve, leave, LOAD_MEMORY],
})
`
let served: Served
const serve = (): Promise<Served> =>
  serveBuilt(
    ['serve', '--port', '0', '--data-dir', join(root, 'data'), '--agents', join(root, 'agents'), ...oneProcess],
    {
      PATH: process.env.PATH ?? '',
      HOME: root,
    },
  )

beforeAll(async () => {
  await built()
  mkdirSync(join(root, 'agents', 'helper'), { recursive: true })
  writeFileSync(join(root, 'agents', 'helper', 'agent.ts'), agent)
  served = await serve()
})
afterAll(async () => {
  await served.kill()
  rmSync(root, { recursive: true, force: true })
})

const at = (user: string, id: string): string => `/apps/helper/users/${user}/sessions/${id}`
async function ask(path: string, body?: object) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(served.address + path, { ...init, headers: { 'content-type': 'application/json' } })
  expect(response.status, `${path}: ${await response.clone().text()}`).toBe(200)
  return response.json()
}
/** The text of the run's last event. */
async function run(user: string, id: string, part: string | object): Promise<string> {
  const parts = [typeof part === 'string' ? { text: part } : part]
  const newMessage = { role: 'user', parts }
  const events = await ask('/run', { appName: 'helper', userId: user, sessionId: id, newMessage })
  return events.at(-1)?.content.parts[0].text
}

test('what a user’s sessions share survives a crash, and other users have none of it', async () => {
  for (const id of ['a1', 'a2', 'a3']) await ask(at('ann', id), {})
  await ask(at('bob', 'b1'), {})
  expect(await run('ann', 'a1', 'keep Marmalade')).toBe('{"version":0}')
  await served.kill()
  served = await serve()
  expect(await run('ann', 'a2', 'hello')).toContain('The user is Marmalade.')
  expect(await run('bob', 'b1', 'hello')).toContain('The user is .')
  expect((await ask(at('ann', 'a3'))).state).toEqual({ 'user:name': 'Marmalade', 'app:visits': 1 })
  expect((await ask(at('bob', 'b1'))).state).toEqual({ 'app:visits': 1 })
  expect(JSON.stringify(await ask(at('ann', 'a1')))).not.toContain('temp:')
  expect(await run('ann', 'a2', 'load_memory marmalade')).toContain('keep Marmalade')
  expect(JSON.parse(await run('bob', 'b1', 'load_memory marmalade'))).toEqual({ memories: [] })
  expect(await run('ann', 'a2', 'keep Honey')).toBe('{"version":1}')
  expect(await ask(`${at('ann', 'a1')}/artifacts`)).toEqual(['user:note.txt'])
  expect(await ask(`${at('ann', 'a1')}/artifacts/user:note.txt`)).toEqual({ text: 'Honey' })
  expect(await ask(`${at('bob', 'b1')}/artifacts`)).toEqual([])
})

test('SPEC 4.5: messages go on while a long-running call waits, and it is answered later', async () => {
  await ask(at('ann', 'q'), {})
  await run('ann', 'q', 'approve')
  expect(await run('ann', 'q', 'hello')).toContain('The user is')
  await served.kill()
  served = await serve()
  const { events } = await ask(at('ann', 'q'))
  const call = events.find((event: { longRunningToolIds?: string[] }) => event.longRunningToolIds?.length)
  const id = call.longRunningToolIds[0]
  await run('ann', 'q', { functionResponse: { id, name: 'approve', response: { status: 'approved' } } })
  const views = await ask('/sessions/q/views/problems')
  expect(JSON.stringify(views)).not.toContain('"severity":"error"')
})

test('a tool reads the payload that a person sends with a confirmation, on ADK’s wire and on AG-UI', async () => {
  await ask(at('ann', 'days'), {})
  await run('ann', 'days', 'leave')
  const { events } = await ask(at('ann', 'days'))
  const [id] = events.findLast(
    (event: { longRunningToolIds?: string[] }) => event.longRunningToolIds?.length,
  ).longRunningToolIds
  const response = { confirmed: true, payload: { days: 4 } }
  const answer = { functionResponse: { id, name: 'adk_request_confirmation', response } }
  expect(await run('ann', 'days', answer)).toBe('{"days":4}')

  for (const payload of [response, { confirmed: true, days: 4 }]) {
    const session = crypto.randomUUID()
    const input = { threadId: session, protocolVersion: '1.0', state: {}, tools: [], context: [], forwardedProps: {} }
    await post({ ...input, runId: 'r1', messages: [{ id: 'm', role: 'user', content: 'leave' }] })
    const log = await (await fetch(`${served.address}/sessions/${session}/log`)).text()
    const [, interruptId] = /"kind":"interrupt","id":"([^"]+)"/.exec(log) ?? []
    const resume = [{ interruptId, status: 'resolved', payload }]
    expect(await post({ ...input, runId: 'r2', messages: [], resume })).toContain('{\\"days\\":4}')
  }
})

async function post(input: object): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify(input), headers: { 'content-type': 'application/json' } }
  return (await fetch(`${served.address}/ag-ui/helper`, init)).text()
}
