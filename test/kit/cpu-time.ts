import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'

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

/** Of this process and those that it started. Only Linux tells about others; the ticks of its clock are 100 a second. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const { ended } = ofProcess('self')
  return (user + system) / 1_000_000 + ended + running(String(process.pid))
}

/** Seconds of the processes below one that still run, such as a browser that all files of a worker share. */
function running(pid: string): number {
  let sum = 0
  for (const child of childrenOf(pid)) {
    const { own, ended } = ofProcess(child)
    sum += own + ended + running(child)
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

/** Seconds of a process itself, and of those that it started and that have ended. */
function ofProcess(pid: string): { readonly own: number; readonly ended: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const sum = (...places: readonly number[]): number => places.reduce((all, at) => all + Number(fields[at]) / 100, 0)
    return { own: sum(11, 12), ended: sum(13, 14) }
  } catch {
    return { own: 0, ended: 0 }
  }
}
