import type { RunEvent } from '../../event/run-event.ts'
import { type CallIds, callIds } from '../bare-text/call-ids.ts'
import { type MessageAuthor, type MessageBuilder, messageBuilder } from '../bare-text/message-builder.ts'
import { PlanTasks } from './tasks.ts'

/** What a frame means, or why it could not be read. */
export type PlanFrameResult = readonly RunEvent[] | string

/** What the decoder knows about the current run. */
export class PlanRun {
  readonly id: string
  readonly author: string
  /** The author of what belongs to no task. */
  readonly speaker: MessageAuthor
  phase: 'new' | 'open' | 'finished' = 'new'
  readonly calls: CallIds
  readonly speech: MessageBuilder
  readonly tasks: PlanTasks
  /** The text of an error without a task: the run fails, and `done` or the end of the stream ends it. */
  failure: string | undefined
  /** A task with an error. It has failed, unless the wire goes on with it. */
  troubled: { readonly task: string; readonly error: string } | undefined
  /** The tasks with an error since they were selected. */
  readonly errors = new Set<string>()
  paused: string | undefined
  readonly versions: Map<string, number>

  constructor(id: string, author: string, before?: PlanRun) {
    this.id = id
    this.author = author
    this.speaker = { author }
    this.calls = callIds(id)
    this.speech = messageBuilder(id)
    this.tasks = before?.tasks ?? new PlanTasks()
    this.versions = before?.versions ?? new Map()
  }
}
