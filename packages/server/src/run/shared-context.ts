import type { EventLog, JsonObject, PatchOp, RunEvent, RunInput, SessionInfo } from '@millrace/core'
import { isShared } from '@millrace/core/store'
import type { Agent, RunContext, SharedContext } from '../agent/agent.ts'
import type { RunEngineOptions } from './engine-parts.ts'

/** What a run of this session can reach of the other sessions of its user and agent. */
export function sharedContext(log: EventLog, { id, user, agent }: SessionInfo): SharedContext {
  return {
    artifacts: () => log.sharedArtifacts({ user, agent }),
    search: (text) => log.search({ user, agent, text, from: id }),
    remember: () => log.remember(id),
  }
}

/** What the records of an agent's model calls have. */
export function recordingOf(
  { recording }: Pick<RunEngineOptions, 'recording'>,
  { name }: Agent,
): Pick<RunContext, 'recording'> {
  return recording === undefined ? {} : { recording: recording(name) }
}

/**
 * The shared keys that the client state of a run sets, as a person's edit. A key that the client only returns as its
 * session had it is not set: the shared value may be newer.
 */
export function sharedEdit({ state: sent = {} }: RunInput, state: JsonObject): RunEvent | undefined {
  return changeOf(state, sent)
}

/** The shared values that the session does not have yet (SPEC 2.11). */
export function sharedNews(shared: JsonObject, state: JsonObject): RunEvent | undefined {
  return changeOf(state, shared)
}

function changeOf(before: JsonObject, after: JsonObject): RunEvent | undefined {
  const patch = Object.entries(after).flatMap(([key, value]): readonly PatchOp[] => {
    const same = Object.hasOwn(before, key) && JSON.stringify(before[key]) === JSON.stringify(value)
    return same || !isShared(key)
      ? []
      : [{ op: 'add', path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, value }]
  })
  return patch.length === 0 ? undefined : { kind: 'state', patch }
}
