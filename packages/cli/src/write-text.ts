import { mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from './command-error.ts'
import { errnoSentence } from './errno-sentence.ts'

/**
 * Writes a text to a file, and creates missing folders. An existing file keeps its text until all of the new one is
 * written. Throws a CommandError when the text cannot be written.
 */
export function writeText(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined || found.isFile())
      replace(found === undefined ? file : realpathSync(file), text, found?.mode)
    else writeFileSync(file, text)
  } catch (error) {
    throw unwritable(file, error)
  }
}

function replace(file: string, text: string, mode: number | undefined): void {
  // Each process has its own: two commands may write one file at the same time.
  const next = `${file}.${process.pid}.new`
  try {
    writeFileSync(next, text, mode === undefined ? {} : { mode })
    renameSync(next, file)
  } catch (error) {
    if (statSync(next, { throwIfNoEntry: false })?.isFile() === true) rmSync(next, { force: true })
    throw error
  }
}

/** Why a file was not written, as a sentence. The system does not always name the file. */
export function unwritable(file: string, error: unknown): CommandError {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM')
    return new CommandError(`this user may not write ${file}; change its permissions, or name another place`)
  return new CommandError(errnoSentence({ code, path: file }) ?? `cannot write ${file}: ${message}`)
}
