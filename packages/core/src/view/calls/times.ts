/** When a call began and ended. */
export interface CallTimes {
  readonly startedAt: number
  readonly endedAt: number
}

/**
 * When a call ran, by the duration that its engine measured. `startedAt` and `endedAt` are the times of its events. Events
 * that come during a slow commit all have its time: then the call began as long before its end as it took. A model works
 * from the start of its call on, a tool until its end.
 */
export function callTimes(
  kind: 'model' | 'tool',
  { startedAt, endedAt }: CallTimes,
  duration = Math.max(0, endedAt - startedAt),
): CallTimes {
  if (kind === 'tool') return { startedAt: endedAt - duration, endedAt }
  const begun = Math.min(startedAt, endedAt - duration)
  return { startedAt: begun, endedAt: begun + duration }
}
