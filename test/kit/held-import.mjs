// For `node --import`: holds the import of a package until a file exists, and notes each time that it is loaded.
// HELD_PACKAGE is part of the addresses of its files, HELD_UNTIL the file to wait for, HELD_NOTES the file for the notes.
import { appendFileSync, existsSync } from 'node:fs'
import { register } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'

const { HELD_PACKAGE = '', HELD_UNTIL = '', HELD_NOTES = '' } = process.env

if (isMainThread) register(import.meta.url)

/** A hook of Node for each file that is imported. Node calls it in a thread of its own. */
export async function load(url, context, nextLoad) {
  if (url.includes(HELD_PACKAGE)) {
    appendFileSync(HELD_NOTES, `${process.pid} ${url}\n`)
    while (!existsSync(HELD_UNTIL)) await setTimeout(10)
  }
  return nextLoad(url, context)
}
