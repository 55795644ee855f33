import { existsSync, renameSync, rmSync } from 'node:fs'

/**
 * Gives a folder that is whole its name, so that one whose making was interrupted is never used. When another test was
 * quicker with the same, its folder stays.
 */
export function finished(made: string, name: string): void {
  try {
    renameSync(made, name)
  } catch (error) {
    if (!existsSync(name)) throw error
    rmSync(made, { recursive: true })
  }
}
