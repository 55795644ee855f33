import type { AdkPart, RunEvent } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agUiLines, ClientBench, callsIn, saidIn, typesOf } from '../kit/ag-ui-clients.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

// What no agent of the matrix does (`ag-ui-matrix.slow.test.ts`): two agents of one name, a call after another spoke.

/** Two agents of one name at work side by side: both think, both speak, and the first calls a tool after the second spoke. */
function* team(): Generator<RunEvent> {
  const at = (node: string, message: string, parts: readonly AdkPart[]): RunEvent => ({
    kind: 'agent',
    node,
    message,
    event: {
      id: `${message} ${JSON.stringify(parts).length}`,
      author: 'searcher',
      invocationId: 'inv',
      timestamp: 1_767_081_391_000,
      content: { role: 'model', parts },
    },
  })
  yield { kind: 'node.started', node: 'team', agent: 'team' }
  yield { kind: 'node.started', node: 'searcher@1', agent: 'searcher', parent: 'team' }
  yield { kind: 'node.started', node: 'searcher@2', agent: 'searcher', parent: 'team' }
  yield at('searcher@1', 'one', [{ text: 'Where to look?', thought: true }, { text: 'I look left.' }])
  yield at('searcher@2', 'two', [{ text: 'The other side.', thought: true }, { text: 'I look right.' }])
  yield at('searcher@1', 'one', [{ functionCall: { id: 'find', name: 'find', args: { side: 'left' } } }])
  const found = { inlineData: { data: 'aGk=', mimeType: 'image/png' } }
  const functionResponse = { id: 'find', name: 'find', response: { found: 1 }, parts: [found] }
  yield at('searcher@1', 'found', [{ functionResponse }])
  yield { kind: 'node.finished', node: 'searcher@1', status: 'ok' }
  const error = { code: 'agent-error', message: 'nothing there' } as const
  yield { kind: 'node.finished', node: 'searcher@2', status: 'error', error }
  yield { kind: 'node.finished', node: 'team', status: 'ok' }
}

describe.each(agUiLines)('@ag-ui/client $version', (line) => {
  let server: Awaited<ReturnType<typeof testServer>>
  let bench: ClientBench
  beforeAll(async () => {
    server = await testServer({ with: [scriptedAgent('team', team)], fallback: 'team' })
    bench = new ClientBench(line, await server.app.listen({ port: 0, host: '127.0.0.1' }), 'none')
  })
  afterAll(() => server.close(0))

  test('agents side by side: what each thinks, says and does', async () => {
    const client = bench.thread('team')
    const events = await bench.ask(client, 'Search')
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    expect(new Set(client.messages.map(({ id }) => id)).size).toBe(client.messages.length)
    expect(saidIn(client)).toEqual(
      expect.arrayContaining([
        ['reasoning', 'Where to look?'],
        ['assistant', 'I look left.'],
        ['reasoning', 'The other side.'],
        ['assistant', 'I look right.'],
      ]),
    )
    expect(callsIn(client)).toMatchObject([{ function: { name: 'find' } }])
    const nodes = events.filter(({ type }) => /^(STEP|SUBAGENT)_/.test(type))
    expect(nodes.map(({ type, name, stepName }) => [type, name ?? stepName])).toEqual(
      line.isCurrent
        ? [
            ['SUBAGENT_STARTED', 'searcher'],
            ['SUBAGENT_STARTED', 'searcher'],
            ['SUBAGENT_FINISHED', undefined],
            ['SUBAGENT_ERROR', undefined],
          ]
        : [
            ['STEP_STARTED', 'searcher'],
            ['STEP_STARTED', 'searcher@2'],
            ['STEP_FINISHED', 'searcher'],
            ['STEP_FINISHED', 'searcher@2'],
          ],
    )
  })

  test('the stream is re-joined as it was', async () => {
    const client = bench.thread('team')
    await bench.ask(client, 'Search', { runId: 'r1' })
    const version = line.isCurrent ? { protocolVersion: '1.0' } : {}
    const body = JSON.stringify({ threadId: client.threadId, runId: 'r1', messages: [], ...version })
    const headers = { 'content-type': 'application/json' }
    const url = `${bench.address}/ag-ui/team`
    const first = await fetch(url, { method: 'POST', headers, body })
    const place = new URL(first.headers.get('content-location') ?? '', url)
    expect(await (await fetch(place)).text()).toBe(await first.text())
  })
})
