import type { AdkPart, Recorded, RunEvent } from '@millrace/core'

/** Runs of a coordinator with two specialists that stream at the same time: 349 B an event, about 40 tokens a turn. */
export function session(events: number): readonly Recorded[] {
  const rows: Recorded[] = []
  for (let turn = 1; rows.length < events; turn++) {
    const run = `0199a3f2-7c1e-7000-8000-${String(turn).padStart(12, '0')}`
    for (const event of turnOf(run, turn))
      rows.push({ seq: rows.length + 1, at: 1.7e12 + 20 * rows.length, run, event })
  }
  return rows.slice(0, events)
}

function* turnOf(run: string, turn: number): Generator<RunEvent> {
  let count = 0
  const say = (author: string, message: string, node: string, parts: AdkPart[], more: object = {}): RunEvent => ({
    kind: 'agent',
    message: `${run}-${message}`,
    node,
    event: {
      id: `${run.slice(-6)}-${(count++).toString(36).padStart(5, '0')}`,
      author,
      invocationId: `e-${run}`,
      timestamp: 1.7e12 + count,
      content: { role: 'model', parts },
      actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
      longRunningToolIds: [],
      ...more,
    },
  })
  const usage = {
    usageMetadata: { promptTokenCount: 100 * turn, candidatesTokenCount: 40, totalTokenCount: 100 * turn + 40 },
  }
  const lead = 'coordinator@1'
  const team = ['burn_analyst', 'trail_assessor']
  yield {
    kind: 'run.started',
    agent: 'coordinator',
    input: {
      messages: [{ id: `${run}-u`, role: 'user', content: { parts: [{ text: 'Give me a recovery briefing.' }] } }],
    },
  }
  yield { kind: 'node.started', node: lead, agent: 'coordinator' }
  const calls = team.map((name) => ({ functionCall: { id: `${run}-${name}`, name, args: { request: 'cedar-creek' } } }))
  yield say('coordinator', 'calls', lead, calls, usage)
  for (const name of team) {
    yield { kind: 'node.started', node: `coordinator/${name}@1`, agent: name, parent: lead, call: `${run}-${name}` }
  }
  for (let token = 0; token < 40; token++) {
    for (const name of team) {
      yield say(name, name, `coordinator/${name}@1`, [{ text: `word${token} `, thought: token < 5 }], { partial: true })
    }
  }
  for (const name of team) {
    const node = `coordinator/${name}@1`
    const text = Array.from({ length: 35 }, (_, token) => `word${token + 5} `).join('')
    yield say(name, name, node, [{ text }], { ...usage, actions: { stateDelta: { [name]: `turn ${turn}` } } })
    yield { kind: 'node.finished', node, status: 'ok' }
  }
  const answers = team.map((name) => ({
    functionResponse: { id: `${run}-${name}`, name, response: { result: '**Confidence:** 92%\n**Source:** MTBS' } },
  }))
  yield say('coordinator', 'answers', lead, answers)
  for (let token = 0; token < 60; token++) {
    yield say('coordinator', 'final', lead, [{ text: `word${token} ` }], { partial: true })
  }
  const text = Array.from({ length: 60 }, (_, token) => `word${token} `).join('')
  yield say('coordinator', 'final', lead, [{ text }], { ...usage, finishReason: 'STOP' })
  yield { kind: 'node.finished', node: lead, status: 'ok' }
  yield { kind: 'run.finished', outcome: 'done' }
}
