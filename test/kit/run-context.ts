import type { RunContext } from '@millrace/server'

/** What the run engine gives an agent at the start of a session; a test says what is different. */
export function runContext(more: Partial<RunContext> = {}): RunContext {
  return {
    session: 's',
    run: 'r',
    user: 'u',
    history: [],
    state: {},
    resumed: false,
    signal: new AbortController().signal,
    now: () => 1,
    newId: () => 'id',
    ...more,
  }
}
