import type { NodeFinished, Recorded, RunEvent, RunFinished } from './run-event.ts'

/** How everything that is open is ended. */
export interface OpenRunEnds {
  /** The ends get the seqs after this one. */
  readonly after: number
  readonly node: Omit<NodeFinished, 'kind' | 'node'>
  readonly run: Omit<RunFinished, 'kind'>
}

/** The ends of all that is open after these rows: nodes first, then their run (SPEC 4.1, 4.4), at the time of the last row. */
export function endsOfOpenRuns(
  rows: readonly Recorded[],
  { after, node: ofNode, run: ofRun }: OpenRunEnds,
): Recorded[] {
  const open = new Map<string, Set<string>>()
  for (const { run, event } of rows) {
    if (event.kind === 'run.started') open.set(run, new Set())
    else if (event.kind === 'run.finished') open.delete(run)
    else if (event.kind === 'node.started') open.get(run)?.add(event.node)
    else if (event.kind === 'node.finished') open.get(run)?.delete(event.node)
  }
  const ends = [...open].flatMap(([run, nodes]): { run: string; event: RunEvent }[] => [
    ...[...nodes].reverse().map((node) => ({ run, event: { kind: 'node.finished', node, ...ofNode } as const })),
    { run, event: { kind: 'run.finished', ...ofRun } },
  ])
  const at = rows.at(-1)?.at ?? 0
  return ends.map((end, i) => ({ seq: after + 1 + i, at, ...end }))
}

/** The ends of the runs that a recording leaves open: nothing will ever continue them. */
export function endsOfCutRuns(rows: readonly Recorded[]): readonly Recorded[] {
  const error = { code: 'cut', message: 'the recording ends before the run does' } as const
  return endsOfOpenRuns(rows, {
    after: rows.at(-1)?.seq ?? 0,
    node: { status: 'interrupted' },
    run: { outcome: 'failed', error },
  })
}
