import { MillraceError } from '@millrace/core'
import type { Agent, AgentDescription } from '../agent.ts'
import { brokenDescription } from '../broken-description.ts'
import { messageOf } from '../problem.ts'
import { AgentProcess, type AgentProcessOptions, type ProcessLimits } from './agent-process.ts'

export interface IsolatedAgentOptions extends Omit<AgentProcessOptions, 'limits'> {
  readonly limits?: Partial<ProcessLimits>
}

export interface IsolatedAgent extends Agent {
  /** Ends its process. */
  close(): Promise<void>
}

const defaultLimits: ProcessLimits = { blocked: 30_000, memory: 1024 }

/**
 * An agent whose code runs in a process of its own, so that it can block, exit or exhaust its memory without harm to
 * others (docs/decisions/009-agent-isolation.md). The process starts when it is first needed and after each fault.
 */
export function isolatedAgent({ limits, ...options }: IsolatedAgentOptions): IsolatedAgent {
  const { name } = options.agent
  let current: AgentProcess | undefined
  let described: Promise<AgentDescription> | undefined
  let isBroken = false
  let closed = false
  const live = (): AgentProcess => {
    if (closed) throw new MillraceError('unavailable', 'the server is stopping')
    if (current === undefined || current.ended)
      current = new AgentProcess({ ...options, limits: { ...defaultLimits, ...limits } })
    return current
  }
  const describe = async (): Promise<AgentDescription> => {
    try {
      const description = await live().describe()
      // A file that did not load in time may load later; asking a live process again costs nothing.
      if (description.error !== undefined) described = undefined
      return description
    } catch (error) {
      isBroken = true
      return brokenDescription(name, messageOf(error))
    }
  }
  return {
    name,
    describe() {
      described ??= describe()
      return described
    },
    run(input, context) {
      // Its process ended while it was described: a listing does not start it again and again, but a run does.
      if (isBroken) described = undefined
      isBroken = false
      return live().run(input, context)
    },
    async close() {
      closed = true
      await current?.close()
    },
  }
}
