import { existsSync, readFileSync } from 'node:fs'

/** Whether a process runs. One that has ended but was not collected by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  try {
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, 'utf8'))
  } catch {
    return false
  }
}
