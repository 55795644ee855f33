import type { ArtifactSaved, RunEvent } from '../event/run-event.ts'
import { applyState, patchState } from '../event/state-fold.ts'
import { isPartial } from '../event/streaming.ts'
import type { JsonObject, PatchOp } from '../json/json.ts'
import type { SharedScope } from './event-log.ts'

// ADK shares what has one of these prefixes between the sessions of an agent. The log keeps the newest value of each, in
// the transaction of the event that wrote it.
const ofUser = 'user:'
const ofAgent = 'app:'

export function isShared(name: string): boolean {
  return name.startsWith(ofUser) || name.startsWith(ofAgent)
}

/** The user whose value it is; '' for a value of all users. */
export function sharedUser(name: string, { user }: SharedScope): string {
  return name.startsWith(ofUser) ? user : ''
}

/**
 * The shared state after an event; the same reference when the event does not write any. A `state` patch inside a run
 * does not write: the run engine uses it to bring shared values into the session, and an older value must not return.
 */
export function shareState(shared: JsonObject, run: string, event: RunEvent): JsonObject {
  if (!writesShared(run, event)) return shared
  if (event.kind === 'state') return patchState(shared, event.patch.filter(isSharedOp))
  const next = Object.entries(applyState({}, event)).filter(([key]) => isShared(key))
  return { ...shared, ...Object.fromEntries(next) }
}

/** Whether an event writes shared state: a cheap test, made for every event of every session. */
export function writesShared(run: string, event: RunEvent): boolean {
  if (event.kind === 'state') return run === '' && event.patch.some(isSharedOp)
  if (event.kind !== 'agent') return false
  if (isPartial(event.event)) return false
  const delta = event.event.actions?.stateDelta
  if (delta === undefined) return false
  for (const key in delta) if (isShared(key)) return true
  return false
}

function isSharedOp({ path }: PatchOp): boolean {
  return isShared(path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Whether an event saves or deletes an artifact that all sessions of the user have. */
export function isSharedArtifact(event: RunEvent): event is ArtifactSaved {
  return event.kind === 'artifact' && event.name.startsWith(ofUser)
}

/** The shared artifacts after an event. A deletion stays as the last version, so that its number is not used again. */
export function shareArtifact(saved: readonly ArtifactSaved[], event: ArtifactSaved): readonly ArtifactSaved[] {
  const others = saved.filter(
    ({ name, version }) => name !== event.name || (event.deleted !== true && version !== event.version),
  )
  return [...others, event]
}
