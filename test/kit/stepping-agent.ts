import type { RunEvent } from '@millrace/core'
import type { Agent } from '../../packages/server/src/agent/agent.ts'

export interface Stepping {
  readonly steps: number
  /** Milliseconds between deltas; 0 gives way to others only. */
  readonly pace: number
  readonly resumable: boolean
}

/**
 * Says `steps` messages, each in a node of its own, as deltas and then whole. Taken up after a crash it goes on with
 * the first message that is not whole: what is done is not done again.
 */
export function steppingAgent(name: string, { steps, pace, resumable }: Stepping): Agent {
  return {
    name,
    describe: async () => ({
      name,
      description: '',
      engine: 'adk',
      graph: { nodes: [], edges: [] },
      examples: [],
      resumable,
    }),
    async *run(_, { run, history, signal }) {
      const said = (step: number, part: string, partial: boolean): RunEvent => ({
        kind: 'agent',
        message: `${run} ${step}`,
        node: `step ${step}`,
        event: {
          id: `${run} ${step} ${part}`,
          author: name,
          invocationId: run,
          timestamp: 1_700_000_000_000 + step,
          content: { role: 'model', parts: [{ text: `${part} «${step}» ` }] },
          ...(partial ? { partial } : {}),
        },
      })
      const whole = history.filter((row) => row.run === run && row.event.kind === 'agent' && !row.event.event.partial)
      for (let step = whole.length; step < steps && !signal.aborted; step += 1) {
        yield { kind: 'node.started', node: `step ${step}`, agent: name }
        for (const part of ['ærlig', 'talt', '日本', '🌍']) {
          yield said(step, part, true)
          await new Promise((resolve) => (pace > 0 ? setTimeout(resolve, pace) : setImmediate(resolve)))
        }
        yield said(step, 'ærlig talt 日本 🌍', false)
        yield { kind: 'node.finished', node: `step ${step}`, status: 'ok' }
      }
    },
  }
}
