import { readdirSync } from 'node:fs'
import { processStat } from '../../scripts/process-stat.mjs'
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

function processes(): readonly Process[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? processOf(Number(name)) : []))
  } catch {
    return []
  }
}

function processOf(pid: number): readonly Process[] {
  const stat = processStat(pid)
  return stat === undefined ? [] : [{ pid, parent: stat.parent, cpu: stat.own }]
}
