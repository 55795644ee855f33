import type { BaseMemoryService, Session } from '@google/adk'
import type { AdkContent, FoundMessage } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { isNested } from '../nested-event.ts'
import { adkContent } from './history.ts'

type Found = Awaited<ReturnType<BaseMemoryService['searchMemory']>>
type MemoryEntry = Found['memories'][number]

/**
 * ADK's memory, which is a search in the log. Conversations are in it once their run has ended, so that an author need
 * not add them; `addSessionToMemory` adds the current one before that.
 */
export class LogMemory implements BaseMemoryService {
  readonly #context: Pick<RunContext, 'session' | 'shared'>
  constructor(context: Pick<RunContext, 'session' | 'shared'>) {
    this.#context = context
  }

  async addSessionToMemory({ id }: Session): Promise<void> {
    // ADK's AgentTool makes sessions of its own; what they say is not part of the conversation.
    if (id === this.#context.session) await this.#context.shared?.remember()
  }

  async searchMemory({ query }: { readonly query: string }): Promise<Found> {
    const found = (await this.#context.shared?.search(query)) ?? []
    return { memories: found.flatMap(entriesOf) }
  }
}

function entriesOf({ row: { event, at } }: FoundMessage): readonly MemoryEntry[] {
  if (event.kind === 'agent') {
    const { content, author, timestamp } = event.event
    return content === undefined || isNested(event.event) ? [] : [entry(content, author, timestamp)]
  }
  if (event.kind !== 'run.started') return []
  return event.input.messages.flatMap(({ role, content }) => (role === 'user' ? [entry(content, 'user', at)] : []))
}

function entry(content: AdkContent, author: string, at: number): MemoryEntry {
  return { content: adkContent(content), author, timestamp: new Date(at).toISOString() }
}
