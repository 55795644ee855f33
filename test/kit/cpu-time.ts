import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { processStat } from '../../scripts/process-stat.mjs'

/**
 * The CPU seconds that each test file took, with those of the processes that it started: one line of JSON for each file.
 * `npm test` names the file to write to, and prints the most expensive ones at its end.
 */
const report = process.env.MILLRACE_CPU_REPORT

/** A worker runs many files: each pays for what came since the one before. */
const paid = globalThis as { millraceCpuPaid?: number }

if (report !== undefined)
  afterAll(() => {
    const spent = cpuSeconds()
    const line = { file: expect.getState().testPath, seconds: spent - (paid.millraceCpuPaid ?? 0) }
    paid.millraceCpuPaid = spent
    appendFileSync(report, `${JSON.stringify(line)}\n`)
  })

/** Of this process and those that it started. Only Linux tells about others. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const ended = processStat('self')?.ended ?? 0
  return (user + system) / 1_000_000 + ended / 1000 + running(String(process.pid))
}

/** Seconds of the processes below one that still run, such as a browser that all files of a worker share. */
function running(pid: string): number {
  let sum = 0
  for (const child of childrenOf(pid)) {
    const { own = 0, ended = 0 } = processStat(child) ?? {}
    sum += (own + ended) / 1000 + running(child)
  }
  return sum
}

function childrenOf(pid: string): readonly string[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
    return lists.join(' ').split(/\s+/).filter(Boolean)
  } catch {
    return []
  }
}
