import { MillraceError } from '@millrace/core'
import type { Agent } from '../agent.ts'
import { AgentProcess, type AgentProcessOptions, type ProcessLimits } from './agent-process.ts'
import type { ProcessPool } from './process-pool.ts'

export interface IsolatedAgentOptions extends Omit<AgentProcessOptions, 'limits' | 'onWork' | 'onRest'> {
  readonly limits?: Partial<ProcessLimits>
  readonly pool: ProcessPool
}

export interface IsolatedAgent extends Agent {
  /** Ends its process. */
  close(): Promise<void>
  /** A run waits for it: it loads without waiting for its turn. */
  hurry(): void
  /** For how many milliseconds its process has waited for something since its start. */
  idle(): number
  place(): { readonly isolated: true; readonly loaded: boolean }
}

const defaultLimits: ProcessLimits = { blocked: 30_000, memory: 1024 }

/** A load that has waited for this long, in ms, may never end: the next agent gets its turn. */
const turnPatience = 1_000
const lookEvery = 100

/**
 * An agent whose code runs in a process of its own, so that it can block, exit or exhaust its memory without harm to
 * others (docs/decisions/009-agent-isolation.md). The process starts when it is first needed, and again after each fault
 * and after a time without runs.
 */
export function isolatedAgent({ limits, pool, ...options }: IsolatedAgentOptions): IsolatedAgent {
  let current: AgentProcess | undefined
  let closed = false
  let hurry: () => void = () => undefined
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve
  })
  const live = (): AgentProcess => {
    if (closed) throw new MillraceError('unavailable', 'the server is stopping')
    if (current === undefined || current.ended)
      current = new AgentProcess({
        ...options,
        limits: { ...defaultLimits, ...limits },
        onWork: (process) => pool.work(process),
        onRest: (process) => pool.rest(process),
      })
    return current
  }
  return {
    name: options.agent.name,
    async describe() {
      const endTurn = await pool.turn(hurried)
      const look = setInterval(() => {
        if ((current?.idle ?? 0) >= turnPatience) endTurn()
      }, lookEvery)
      try {
        return await live().describe()
      } finally {
        clearInterval(look)
        endTurn()
      }
    },
    run: (input, context) => live().run(input, context),
    hurry,
    idle: () => current?.idle ?? 0,
    place: () => ({ isolated: true, loaded: current?.loaded === true }),
    async close() {
      closed = true
      hurry()
      await current?.close()
    },
  }
}
