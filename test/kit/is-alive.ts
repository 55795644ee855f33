import { processStat } from '../../scripts/process-stat.mjs'

/** Whether a process runs. One that has ended but was not collected by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !/[ZX]/.test(processStat(pid)?.state ?? '')
}
