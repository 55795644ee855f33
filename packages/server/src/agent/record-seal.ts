import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, type Recorded, type RunEvent } from '@millrace/core'
import { isEngineRecord, isLeftOutRecord } from './engines.ts'

/** The run in which an engine keeps a record for itself, such as a checkpoint. */
interface RecordPlace {
  readonly user: string
  readonly agent: string
  readonly run: string
}

/**
 * Marks what an engine keeps in the log for its own later runs. Rows of a session may come from an import, so a user can
 * write any of them; the seal shows which ones this server wrote, for which user and which agent.
 */
export interface RecordSeal {
  /** The event with a seal, if an engine keeps it for itself; any other event as it is. */
  seal(event: RunEvent, place: RecordPlace): RunEvent
  /**
   * The seq of the newest record that an engine keeps for this agent; undefined when there is none, or when its seal is
   * not ours. Only the newest one counts: behind a foreign one, an older one is no longer the state of the session.
   */
  newest(history: readonly Recorded[], place: Omit<RecordPlace, 'run'>): number | undefined
  /** Whether the rows have any such record of the agent, whoever wrote it. */
  hasRecord(history: readonly Recorded[], agent: string): boolean
  /** Whether an engine keeps this event for itself. */
  isRecord(event: RunEvent): boolean
  /** Whether the event replaces a record of an engine that was too large to keep. */
  isLeftOut(event: RunEvent): boolean
}

/** `secret` is known to this server alone. */
export function recordSeal(secret: Uint8Array): RecordSeal {
  const codeOf = (message: string, data: object, { user, agent, run }: RecordPlace): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([user, agent, run, message, data]))
      .digest()
  return {
    seal(event, place) {
      if (event.kind !== 'log' || !isEngineRecord(event) || !isObject(event.data)) return event
      const { seal: _, ...data } = event.data
      const code = codeOf(event.message, data, place).toString('base64')
      return { ...event, data: { ...data, seal: { agent: place.agent, code } } }
    },
    isRecord: isEngineRecord,
    isLeftOut: isLeftOutRecord,
    hasRecord: (history, agent) => history.some(({ event }) => isRecordOf(event, agent)),
    newest(history, { user, agent }) {
      const found = history.findLast(({ event }) => isRecordOf(event, agent))
      if (found?.event.kind !== 'log' || !isObject(found.event.data)) return undefined
      const { seal, ...data } = found.event.data
      const given = Buffer.from(isObject(seal) && typeof seal.code === 'string' ? seal.code : '', 'base64')
      const code = codeOf(found.event.message, data, { user, agent, run: found.run })
      return given.length === code.length && timingSafeEqual(given, code) ? found.seq : undefined
    },
  }
}

/** A record without a seal may be of any agent. */
function isRecordOf(event: RunEvent, agent: string): boolean {
  if (event.kind !== 'log' || !isEngineRecord(event)) return false
  const { seal } = isObject(event.data) ? event.data : {}
  return !isObject(seal) || seal.agent === agent
}
