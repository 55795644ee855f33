import { describe, expect, test } from 'vitest'
import { begin, delta, end, printed, type Said, said } from '../../../../../../test/kit/ag-ui-log.ts'
import type { RunEvent } from '../../../event/run-event.ts'

describe('nodes', () => {
  const start = (node: string, agent: string, more: object = {}): RunEvent => ({
    kind: 'node.started',
    node,
    agent,
    ...more,
  })
  const stop = (node: string, more: object = {}): RunEvent =>
    ({ kind: 'node.finished', node, status: 'ok', ...more }) as RunEvent
  test('no two subagents have the same id, also when a node has the name that another was renamed to', async () => {
    const list = await printed([
      begin(),
      ...['w', 'w', 'w~2', 'w', 'w~2', 'w~3'].flatMap((node) => [start(node, 'w', { parent: 'p' }), stop(node)]),
      end(),
    ])
    const ids = list.filter(({ type }) => type === 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
  })

  test('with more parallel branches than real runs have, the oldest end, and start again when they speak again', async () => {
    const branches = Array.from({ length: 300 }, (_, i) => `p.b${i}`)
    const list = await printed([
      begin(),
      ...branches.map((branch, i) => delta(`m${i}`, 'x', { branch, author: 's' })),
      ...branches.map((branch, i) => said(`m${i}`, [{ text: 'xy' }], { branch, author: 's' })),
      end(),
    ])
    const text = list.flatMap(({ type, delta: text }) => (type === 'TEXT_MESSAGE_CONTENT' ? [text] : []))
    expect(text.join('')).toBe('x'.repeat(300) + 'y'.repeat(300))
    expect(list.filter(({ type }) => type === 'SUBAGENT_STARTED').length).toBeGreaterThan(300)
  })

  test('the run’s own agent is the run; the agents it calls are subagents, with a new id for each call', async () => {
    const list = await printed([
      begin(),
      start('assistant@1', 'assistant'),
      start('assistant/w@1', 'w', { parent: 'assistant@1', call: 'c1' }),
      delta('m1', 'a', { node: 'assistant/w@1', author: 'w' }),
      start('assistant/w/x@1', 'x', { parent: 'assistant/w@1' }),
      delta('m2', 'b', { node: 'assistant/w/x@1', author: 'x' }),
      delta('m1', 'A', { node: 'assistant/w@1', author: 'w' }),
      stop('assistant/w/x@1', { status: 'error', error: { code: 'timeout', message: 'too slow' } }),
      stop('assistant/w@1'),
      start('assistant/w@2', 'w', { parent: 'assistant@1' }),
      stop('assistant/w@2', { status: 'error' }),
      stop('assistant@1'),
      end(),
    ])
    expect(
      list.map(({ type, subagentRunId, parentSubagentRunId, parentToolCallId, name, code, delta: text }) =>
        [type, subagentRunId, parentSubagentRunId ?? parentToolCallId ?? code ?? text ?? name]
          .filter(Boolean)
          .join(' '),
      ),
    ).toEqual([
      'RUN_STARTED',
      'SUBAGENT_STARTED assistant/w@1 c1',
      'TEXT_MESSAGE_START assistant/w@1',
      'TEXT_MESSAGE_CONTENT assistant/w@1 a',
      'SUBAGENT_STARTED assistant/w/x@1 assistant/w@1',
      'TEXT_MESSAGE_START assistant/w/x@1',
      'TEXT_MESSAGE_CONTENT assistant/w/x@1 b',
      'TEXT_MESSAGE_CONTENT assistant/w@1 A',
      'SUBAGENT_ERROR assistant/w/x@1 timeout',
      'SUBAGENT_FINISHED assistant/w@1',
      'SUBAGENT_STARTED assistant/w@2 w',
      'SUBAGENT_ERROR assistant/w@2',
      'TEXT_MESSAGE_END assistant/w@1',
      'TEXT_MESSAGE_END assistant/w/x@1',
      'RUN_FINISHED',
    ])
  })
  test('parts of a graph are steps; two of the same name at once get different names', async () => {
    const list = await printed([
      begin(),
      start('chat@1', 'chat'),
      start('chat@2', 'chat'),
      delta('m1', 'hi', { node: 'chat@1', author: 'chat' }),
      stop('chat@1'),
      stop('chat@2', { status: 'error', error: { code: 'agent-error', message: 'no' } }),
      end(),
    ])
    expect(list.filter(({ stepName }) => stepName !== undefined)).toEqual([
      { type: 'STEP_STARTED', stepName: 'chat' },
      { type: 'STEP_STARTED', stepName: 'chat@2' },
      { type: 'STEP_FINISHED', stepName: 'chat' },
      { type: 'STEP_FINISHED', stepName: 'chat@2', metadata: { error: { code: 'agent-error', message: 'no' } } },
    ])
    expect(list.find(({ messageId }) => messageId === 'm1')).toEqual({
      type: 'TEXT_MESSAGE_START',
      messageId: 'm1',
      role: 'assistant',
      name: 'chat',
    })
  })
  test('a node that is started again after a crash is another subagent', async () => {
    const list = await printed([
      begin(),
      start('w@1', 'w', { parent: 'p' }),
      delta('m1', 'lost', { node: 'w@1', author: 'w' }),
      { kind: 'superseded', messages: ['m1'], nodes: ['w@1'] },
      start('w@1', 'w', { parent: 'p' }),
      said('m2', [{ text: 'found' }], { node: 'w@1', author: 'w' }),
      stop('w@1'),
      end(),
    ])
    expect(list.map(({ type, subagentRunId }) => [type, subagentRunId].filter(Boolean).join(' '))).toEqual([
      'RUN_STARTED',
      'SUBAGENT_STARTED w@1',
      'TEXT_MESSAGE_START w@1',
      'TEXT_MESSAGE_CONTENT w@1',
      'TEXT_MESSAGE_END',
      'SUBAGENT_FINISHED w@1',
      'MESSAGES_SNAPSHOT',
      'SUBAGENT_STARTED w@1~2',
      'TEXT_MESSAGE_START w@1~2',
      'TEXT_MESSAGE_CONTENT w@1~2',
      'TEXT_MESSAGE_END w@1~2',
      'SUBAGENT_FINISHED w@1~2',
      'RUN_FINISHED',
    ])
  })
  test('ADK’s wire has no nodes: another author’s turn is a step, a branch a subagent until its caller speaks', async () => {
    const at = (branch: string, author: string): Said => ({ branch, author })
    const list = await printed([
      begin({}, { agent: '' }),
      said('m1', [{ text: 'go' }], { author: 'lead' }),
      delta('m2', 'n', at('team.north', 'north')),
      delta('m3', 's', at('team.south', 'south')),
      said('m2', [{ text: 'n' }], at('team.north', 'north')),
      said('m3', [{ text: 's' }], at('team.south', 'south')),
      said('m4', [{ text: 'thanks' }], { author: 'lead' }),
      said('m5', [{ text: 'mine' }], { author: 'helper' }),
      said('m6', [{ text: 'q' }], { author: 'user' }),
      said('m7', [{ text: 'n again' }], at('team.north', 'north')),
      said('m8', [{ text: 'bye' }], { author: 'lead' }),
      end(),
    ])
    expect(
      list
        .filter(({ type }) => /STEP|SUBAGENT/.test(String(type)))
        .map(({ type, stepName, subagentRunId }) => `${type} ${stepName ?? subagentRunId}`),
    ).toEqual([
      'SUBAGENT_STARTED team.north',
      'SUBAGENT_STARTED team.south',
      'SUBAGENT_FINISHED team.north',
      'SUBAGENT_FINISHED team.south',
      'STEP_STARTED helper',
      'SUBAGENT_STARTED team.north~2',
      'SUBAGENT_FINISHED team.north~2',
      'STEP_FINISHED helper',
    ])
    const names = Object.fromEntries(
      list.filter(({ type }) => type === 'TEXT_MESSAGE_START').map(({ messageId, name }) => [messageId, name]),
    )
    expect(names).toEqual({
      m1: undefined,
      m2: undefined,
      m3: undefined,
      m4: undefined,
      m5: 'helper',
      m6: undefined,
      m7: undefined,
      m8: undefined,
    })
  })
})
