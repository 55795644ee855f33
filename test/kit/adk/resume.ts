import { FunctionTool, LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk'
import type { JsonObject, Recorded, RunEvent } from '@millrace/core'
import { applyState } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import {
  call,
  model,
  type OfflineAgentScript,
  type OfflineScript,
  say,
  specialists,
} from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { RunLedger } from '../../../packages/server/src/run/ledger.ts'
import { inputOf, testSession } from '../run-agent.ts'

const tool = (name: string) =>
  new FunctionTool({
    name,
    description: name,
    execute: (_args, context) => {
      context?.state.set(name, 'done')
      return { name }
    },
  })
const llm = (offline: OfflineScript) => model({ offline })
const twoTools: OfflineAgentScript = ({ step, results }) =>
  step === 0 ? [call('a'), call('b')] : step === 1 ? call('c') : say(`after ${results.map(({ name }) => name).join()}`)

const programs: Readonly<Record<string, () => LlmAgent | SequentialAgent>> = {
  'tools of one agent': () => new LlmAgent({ name: 'root', model: llm(twoTools), tools: ['a', 'b', 'c'].map(tool) }),
  specialists: () => {
    const script: OfflineScript = {
      root: ({ step, results }) => {
        if (step === 0) return [call('left', { request: 'l' }), call('right', { request: 'r' })]
        if (step === 1) return call('left', { request: 'again' })
        return say(results.map(({ response }) => `${response.result}`).join(' | '))
      },
      left: ({ step, user, result }) => (step === 0 ? call('a') : say(`left ${user} ${result('a')?.name}`)),
      right: ({ step, user, result }) => (step === 0 ? call('b') : say(`right ${user} ${result('b')?.name}`)),
    }
    const agent = (name: string, uses: string) => new LlmAgent({ name, model: llm(script), tools: [tool(uses)] })
    return new LlmAgent({
      name: 'root',
      model: llm(script),
      tools: specialists([agent('left', 'a'), agent('right', 'b')]),
    })
  },
  'a pipeline with a fan': () => {
    const step = (name: string) =>
      new LlmAgent({
        name,
        outputKey: `${name}_said`,
        model: llm(({ step: turn }) => (turn === 0 ? call(name) : say(`${name} spoke`))),
        tools: [tool(name)],
      })
    const fan = new ParallelAgent({ name: 'fan', subAgents: [step('b'), step('c')] })
    return new SequentialAgent({ name: 'root', subAgents: [step('a'), fan, step('d')] })
  },
}

/** What the run engine does when a process died after `rows` (engine/recover.ts). */
async function goOn(agent: ReturnType<typeof adkAgent>, rows: readonly Recorded[]): Promise<readonly RunEvent[]> {
  const ledger = RunLedger.of(rows, 'r1')
  const lost: RunEvent = { kind: 'superseded', messages: ledger.unfinishedMessages, nodes: ledger.openNodes }
  const history = [...rows, { seq: rows.length + 1, at: 0, run: 'r1', event: lost }]
  let state: JsonObject = {}
  for (const { event } of history) state = applyState(state, event)
  const events: RunEvent[] = history.map(({ event }) => event)
  const signal = new AbortController().signal
  const context = {
    session: 's1',
    run: 'r1',
    user: 'u',
    history,
    state,
    resumed: true,
    signal,
    now: () => 0,
    newId: () => '',
  }
  for await (const event of agent.run(inputOf('go'), context)) events.push(event)
  return events
}

/** The calls and answers that count, by call id; and how it ended. */
function account(events: readonly RunEvent[]) {
  const gone = new Set(events.flatMap((event) => (event.kind === 'superseded' ? event.messages : [])))
  const whole = events.flatMap((event) =>
    event.kind === 'agent' && event.event.partial !== true && !gone.has(event.message) ? [event.event] : [],
  )
  const parts = whole.flatMap(({ content }) => content?.parts ?? [])
  const calls = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
  const answers = parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])
  return {
    said: parts.flatMap(({ text }) => text ?? []).sort(),
    callsOnce: new Set(calls).size === calls.length,
    answeredOnce: [...answers].sort().join() === [...calls].sort().join(),
    calls: calls.length,
    ended: events.at(-1),
  }
}

describe('going on after a crash', () => {
  test.each(Object.keys(programs))('%s: from any row of the log the run ends as it would have', async (name) => {
    const agent = adkAgent('root', async () => programs[name]?.(), { models: { tokensPerSecond: 0 }, resumable: true })
    const session = testSession(agent)
    const whole = account(await session.run('go'))
    expect(whole).toMatchObject({ callsOnce: true, answeredOnce: true, ended: { outcome: 'done' } })
    for (let cut = 1; cut < session.rows.length; cut++) {
      const { said, calls, callsOnce, answeredOnce, ended } = account(await goOn(agent, session.rows.slice(0, cut)))
      const at = `${name}, cut after row ${cut}`
      expect({ said, calls }, at).toEqual({ said: whole.said, calls: whole.calls })
      expect({ callsOnce, answeredOnce }, at).toEqual({ callsOnce: true, answeredOnce: true })
      expect(ended, at).toMatchObject({ kind: 'run.finished', outcome: 'done' })
    }
  })
})
