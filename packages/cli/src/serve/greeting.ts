import { type Colours, columnsOf, plain } from '../terminal.ts'

export interface Greeting {
  readonly version: string
  readonly address: string
  /** The folder of the agents; undefined: the examples. */
  readonly agents: string | undefined
  /** Where the log is. */
  readonly store: string
  /** The address of adk-web, where it is served. */
  readonly adkWeb?: string
}

/** What a server says when it listens: one line for a script; for a person also what it serves and how to stop it. */
export function greeting(
  { version, address, agents, store, adkWeb }: Greeting,
  person: boolean,
  colours: Colours = plain,
): string {
  const { strong, accent, faint } = colours
  const first = `${strong('Millrace')} ${version} is listening on ${accent(address)}`
  if (!person) return [first, ...(adkWeb === undefined ? [] : [`adk-web is on ${adkWeb}`])].join('\n')
  const rows: readonly (readonly [string, string])[] = [
    ['agents', agents ?? `the examples ${faint('(millrace init makes a folder of your own)')}`],
    ['log', store],
    ...(adkWeb === undefined ? [] : [['adk-web', accent(adkWeb)] as const]),
    ['stop', 'Ctrl-C'],
  ]
  const width = Math.max(...rows.map(([name]) => columnsOf(name)))
  const lines = rows.map(([name, value]) => `  ${faint(name.padEnd(width))}  ${value}`)
  return ['', `  ${first}`, '', ...lines, ''].join('\n')
}
