import type { NodeFinished, Recorded, RunEvent, RunFinished } from './run-event.ts'

/** How everything that is open is ended. */
export interface OpenRunEnds {
  /** The ends get the seqs after this one. */
  readonly after: number
  readonly node: Omit<NodeFinished, 'kind' | 'node'>
  readonly run: Omit<RunFinished, 'kind'>
}

/** Notes what rows leave open, row by row, so that they need not be kept. */
export interface OpenRuns {
  push(row: Recorded): void
  /** The ends of all that is open: nodes first, then their run (SPEC 4.1, 4.4), at the time of the last row. */
  ends(how: OpenRunEnds): Recorded[]
  /** The same for a recording: nothing will ever continue its runs. */
  cutEnds(): Recorded[]
}

export function openRuns(): OpenRuns {
  const open = new Map<string, Set<string>>()
  let last = { seq: 0, at: 0 }
  const ends: OpenRuns['ends'] = ({ after, node: ofNode, run: ofRun }) => {
    const { at } = last
    return [...open]
      .flatMap(([run, nodes]): { run: string; event: RunEvent }[] => [
        ...[...nodes].reverse().map((node) => ({ run, event: { kind: 'node.finished', node, ...ofNode } as const })),
        { run, event: { kind: 'run.finished', ...ofRun } },
      ])
      .map((end, i) => ({ seq: after + 1 + i, at, ...end }))
  }
  return {
    push: ({ seq, at, run, event }) => {
      last = { seq, at }
      if (event.kind === 'run.started') open.set(run, new Set())
      else if (event.kind === 'run.finished') open.delete(run)
      else if (event.kind === 'node.started') open.get(run)?.add(event.node)
      else if (event.kind === 'node.finished') open.get(run)?.delete(event.node)
    },
    ends,
    cutEnds: () => {
      const error = { code: 'cut', message: 'the recording ends before the run does' } as const
      return ends({ after: last.seq, node: { status: 'interrupted' }, run: { outcome: 'failed', error } })
    },
  }
}

/** The ends of all that is open after these rows. */
export function endsOfOpenRuns(rows: readonly Recorded[], how: OpenRunEnds): Recorded[] {
  const open = openRuns()
  for (const row of rows) open.push(row)
  return open.ends(how)
}
