import { MillraceError } from '@millrace/core'
import type { Agent } from '../agent.ts'
import type { Progress } from '../patience.ts'
import { AgentProcess, type AgentProcessOptions, type ProcessLimits } from './agent-process.ts'
import type { ProcessPool } from './process-pool.ts'
import type { SpareProcess } from './spare-process.ts'

export interface IsolatedAgentOptions extends Omit<AgentProcessOptions, 'limits' | 'onWork' | 'onRest' | 'spare'> {
  readonly limits: ProcessLimits
  readonly pool: ProcessPool
  readonly spare: SpareProcess
}

export interface IsolatedAgent extends Agent {
  /** Ends its process. */
  close(): Promise<void>
  /** A run waits for it: it loads without waiting for its turn. */
  hurry(): void
  progress(): Progress
  place(): { readonly isolated: true; readonly loaded: boolean }
}

/** A load that has waited for this long, or lasts for this long, in ms, may never end: the next agent gets its turn. */
const turnPatience = 1_000
const longestTurn = 15_000
const lookEvery = 100

/**
 * An agent whose code runs in a process of its own, so that it can block, exit or exhaust its memory without harm to
 * others (docs/decisions/009-agent-isolation.md). The process starts when it is first needed, and again after each fault
 * and after a time without runs.
 */
export function isolatedAgent({ pool, spare, ...options }: IsolatedAgentOptions): IsolatedAgent {
  let current: AgentProcess | undefined
  let engine: string | undefined
  let closed = false
  let hurry: () => void = () => undefined
  const hurried = new Promise<void>((resolve) => {
    hurry = resolve
  })
  const live = (): AgentProcess => {
    if (closed) throw new MillraceError('unavailable', 'the server is stopping')
    if (current !== undefined && !current.ended) return current
    current = new AgentProcess({
      ...options,
      spare: spare.take(),
      onWork: (process) => pool.work(process),
      onRest: (process) => pool.rest(process),
    })
    if (engine !== undefined) spare.prepare(engine)
    return current
  }
  return {
    name: options.agent.name,
    async describe() {
      const endTurn = await pool.turn(hurried)
      let lasted = 0
      const look = setInterval(() => {
        lasted += lookEvery
        if (lasted >= longestTurn || (current?.idle ?? 0) >= turnPatience) endTurn()
      }, lookEvery)
      try {
        const description = await live().describe()
        if (description.error !== undefined) return description
        engine = description.engine
        spare.prepare(engine)
        return description
      } finally {
        clearInterval(look)
        endTurn()
      }
    },
    run: (input, context) => live().run(input, context),
    hurry,
    progress: () => ({ queued: current === undefined, idle: current?.idle ?? 0 }),
    place: () => ({ isolated: true, loaded: current?.loaded === true }),
    async close() {
      closed = true
      hurry()
      await current?.close()
    },
  }
}
