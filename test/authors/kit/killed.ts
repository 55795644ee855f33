import type { Recorded, RunFinished } from '@millrace/core'
import type { Served } from '../../kit/built-server.ts'
import { logOf, startTurn, type Turn } from './session.ts'

/** An author's agent, and what a person says to it. */
export interface AuthorAgent {
  readonly agent: string
  readonly turns: readonly Turn[]
}
export interface Survived extends AuthorAgent {
  readonly session: string
  readonly rows: readonly Recorded[]
  /** How its last run ended. */
  readonly end: RunFinished | undefined
}

/**
 * Takes the turns of all agents at the same time, a session each. The server is killed when `killAt` nodes have started,
 * and another one continues with the same data until every session is at its end.
 */
export async function killedOnce(
  serve: () => Promise<Served>,
  agents: readonly AuthorAgent[],
  killAt: number,
): Promise<{ readonly address: string; readonly survived: readonly Survived[] }> {
  const first = await serve()
  let nodes = 0
  const onNode = (): void => {
    nodes += 1
    if (nodes === killAt) first.child.kill('SIGKILL')
  }
  // A kill breaks the streams; what each session came to is read from the second server.
  await Promise.allSettled(agents.map((each) => drive(first.address, each, onNode)))
  await first.kill()
  const { address } = await serve()
  const survived = await Promise.all(
    agents.map(async (each) => {
      await drive(address, each, () => {})
      const rows = await logOf(address, sessionOf(each))
      return { ...each, session: sessionOf(each), rows, end: lastRun(rows)?.end }
    }),
  )
  return { address, survived }
}

const sessionOf = ({ agent }: AuthorAgent): string => `killed-${agent}`

/** Takes turn after turn from where the log is. A run that failed ends the conversation. */
async function drive(address: string, each: AuthorAgent, onNode: () => void): Promise<void> {
  const session = sessionOf(each)
  for (;;) {
    const rows = await logOf(address, session)
    const last = lastRun(rows)
    if (last?.end?.outcome === 'failed') return
    const turn = each.turns[runsIn(rows).length]
    const isOpen = last !== undefined && last.end === undefined
    if (!isOpen && turn === undefined) return
    const run = isOpen || turn === undefined ? (last?.run ?? '') : await startTurn(address, each.agent, session, turn)
    await follow(address, session, run, onNode)
  }
}

/** Reads the stream of a run to its end. */
export async function follow(address: string, session: string, run: string, onNode: () => void): Promise<void> {
  const query = `dialect=millrace&run=${encodeURIComponent(run)}`
  const stream = await fetch(`${address}/sessions/${session}/events?${query}`)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.includes('"kind":"node.started"')) onNode()
  }
}

const runsIn = (rows: readonly Recorded[]): readonly string[] =>
  rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : []))

function lastRun(
  rows: readonly Recorded[],
): { readonly run: string; readonly end: RunFinished | undefined } | undefined {
  const run = runsIn(rows).at(-1)
  if (run === undefined) return undefined
  const end = rows.find((row) => row.run === run && row.event.kind === 'run.finished')?.event
  return { run, end: end?.kind === 'run.finished' ? end : undefined }
}

/**
 * The effects that happened more often than the log can explain. An effect is named `<agent>/<node>` and may have more
 * words after that. It may happen again only where the log has the node as cut by the kill (`superseded`).
 */
export function unexplained(effects: readonly string[], { agent, rows }: Survived): readonly string[] {
  const cut = rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.nodes : []))
  const names = cut.map((node) => node.slice(node.lastIndexOf('/') + 1, node.lastIndexOf('@')))
  const own = effects.filter((line) => line.split('/')[0] === agent)
  return [...new Set(own)].filter((line) => {
    const node = line.slice(agent.length + 1).split(' ')[0]
    return own.filter((each) => each === line).length > 1 + names.filter((name) => name === node).length
  })
}
