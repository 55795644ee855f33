import { readdirSync, readFileSync } from 'node:fs'
import { median } from './row.ts'

/** Milliseconds of CPU that were used so far. Unlike wall time they do not depend on what else the machine does. */
export interface CpuUse {
  /** By the server. */
  readonly server: number
  /** By the processes that it started. */
  readonly agents: number
  /** By this process, which is the client. */
  readonly client: number
}

/** NaN for the server and its processes where there is no /proc. */
export function cpuUse(server: number | undefined): CpuUse {
  const { user, system } = process.cpuUsage()
  const all = processes()
  const own = all.find(({ pid }) => pid === server)
  const agents = all.filter(({ parent }) => parent === server).reduce((sum, { cpu }) => sum + cpu, 0)
  return { server: own?.cpu ?? Number.NaN, agents, client: (user + system) / 1000 }
}

export function perRun(before: CpuUse, after: CpuUse, runs: number): CpuUse {
  return {
    server: (after.server - before.server) / runs,
    agents: (after.agents - before.agents) / runs,
    client: (after.client - before.client) / runs,
  }
}

/** The medians of some rounds, for people. */
export function shown(uses: readonly CpuUse[]): string {
  const of = (who: keyof CpuUse): string => median(uses.map((use) => use[who])).toFixed(2)
  return `server ${of('server')}, agents ${of('agents')}, client ${of('client')}`
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly cpu: number
}

/** `utime` and `stime` are in ticks; on every Linux that Node runs on, a tick is 10 ms. */
const tick = 10

function processes(): readonly Process[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? processOf(Number(name)) : []))
  } catch {
    return []
  }
}

function processOf(pid: number): readonly Process[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in brackets and may hold spaces; the state comes after it.
    const [, parent, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), cpu: (Number(fields[9]) + Number(fields[10])) * tick }]
  } catch {
    // It has ended.
    return []
  }
}
