import { type RunWord, type SessionInfo, sessionWord } from '@millrace/core'

/** What happened in a session that is not shown. */
export interface Notice {
  readonly info: SessionInfo
  readonly text: string
  /** It stays until it is dismissed, because something waits for the person. */
  readonly lasting: boolean
}

const texts: Partial<Record<RunWord, string>> = {
  waiting: 'waits for you',
  done: 'is done',
  failed: 'failed',
  'cut off': 'was cut off',
}

/**
 * The sessions that began to wait or ended between two looks at the list. The first look tells nothing, a session that is
 * shown tells it itself, and a cancelled run was stopped by a person.
 */
export function noticesBetween(
  before: readonly SessionInfo[],
  after: readonly SessionInfo[],
  shown: string | undefined,
): readonly Notice[] {
  if (before.length === 0) return []
  const known = new Map(before.map((info) => [info.id, info]))
  return after.flatMap((info): Notice[] => {
    const old = known.get(info.id)
    const text = texts[sessionWord(info)]
    if (text === undefined || info.id === shown || old === info) return []
    // A session from before that only now came into the list is no news.
    if (old === undefined) return []
    if (old.status === info.status && old.lastRun === info.lastRun) return []
    return [{ info, text, lasting: info.status === 'interrupted' }]
  })
}
