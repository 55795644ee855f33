import { defaultShares, type ShareName, type SomeShares, shareKinds } from '@millrace/server'

const names = Object.keys(defaultShares) as readonly ShareName[]
const units: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** How many runs may wait with `--queue`, where no other setting says so. */
export const queueShares: readonly string[] = ['queued=100', 'all-queued=1000']

/** Reads `streams=100` (of one user) and `all-streams=1000`, or returns a sentence that says what is wrong. */
export function readShares(entries: readonly string[]): SomeShares | string {
  const shares: Partial<Record<ShareName, { user?: number; all?: number }>> = {}
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== '')) {
    const [, all, word = '', digits = '', unit = ''] = /^(all-)?([a-z]+)=(\d{1,15})([kmg]?)$/i.exec(entry) ?? []
    const name = names.find((one) => one === word.toLowerCase())
    if (name === undefined || (unit !== '' && name !== 'bytes'))
      return `--limit must be NAME=NUMBER or all-NAME=NUMBER with one of ${names.join(', ')}, not '${entry}'`
    const most = Number(digits) * (units[unit.toLowerCase()] ?? 1)
    shares[name] = { ...shares[name], [all === undefined ? 'user' : 'all']: most }
  }
  return shares
}

/** What the help says of each limit. */
export const shareHelp = names
  .map(
    (name) =>
      `${name} ${shareKinds[name]} (${shown(defaultShares[name].user)}; all: ${shown(defaultShares[name].all)})`,
  )
  .join(', ')

function shown(most: number): string {
  if (most === Number.POSITIVE_INFINITY) return 'any'
  return most >= 2 ** 30 ? `${most / 2 ** 30}G` : String(most)
}
