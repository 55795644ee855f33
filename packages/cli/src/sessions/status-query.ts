import type { SessionQuery } from '@millrace/core'

/** What the server is asked for by each value of `--status`: the words of the list, and the names that the API has. */
export const statusQueries: Readonly<Record<string, Pick<SessionQuery, 'status' | 'cutOff'>>> = {
  'not-started': { status: 'idle' },
  running: { status: 'running' },
  waiting: { status: 'interrupted' },
  done: { status: 'done' },
  failed: { status: 'failed', cutOff: false },
  cancelled: { status: 'cancelled' },
  'cut-off': { status: 'failed', cutOff: true },
  idle: { status: 'idle' },
  interrupted: { status: 'interrupted' },
}

/** The fields of the query for a value of `--status`. */
export function queryOfStatus(name: string | undefined): Readonly<Record<string, string | undefined>> {
  const { status, cutOff } = (name === undefined ? undefined : statusQueries[name]) ?? {}
  return { status, cutOff: cutOff?.toString() }
}
