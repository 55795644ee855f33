// What Linux tells about a process, for tests, benchmarks and the costs of a test run.
import { readFileSync } from 'node:fs'

/** Milliseconds: Linux counts processor time in ticks, and Node runs only where a tick is that long. */
const tick = 10

/**
 * The times are processor time in milliseconds: of the process itself, and of those that it started and that have ended.
 *
 * @param {number | string} pid
 * @returns {{ name: string, state: string, parent: number, group: number, own: number, ended: number } | undefined}
 *   undefined: the process has ended, or the system is not Linux
 */
export function processStat(pid) {
  let text = ''
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program is in brackets, and may itself hold spaces and brackets.
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const milliseconds = (first) => (Number(fields[first]) + Number(fields[first + 1])) * tick
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    state: fields[0] ?? '',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    own: milliseconds(11),
    ended: milliseconds(13),
  }
}
