import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Text that is gathered before it is written. */
const chunkSize = 64 * 1024

/** Writes many small texts as few large ones, and not faster than they are read. */
export interface TextOut {
  /** Resolves at once, unless the reader is behind. */
  write(text: string): Promise<void> | undefined
  /** Writes what has gathered, now. */
  flush(): Promise<void>
}

/** A text waits for no more than the turn of the event loop in which it came, so that a live stream stays live. */
export function textOut(stream: Writable = process.stdout): TextOut {
  let held: string[] = []
  let size = 0
  let scheduled = false
  let full: Promise<unknown> | undefined
  const push = (): void => {
    if (size === 0) return
    const text = held.join('')
    held = []
    size = 0
    if (!stream.write(text) && full === undefined) {
      full = once(stream, 'drain').finally(() => {
        full = undefined
      })
      // A broken pipe is handled by the listener of `broken-pipe.ts`.
      full.catch(() => {})
    }
  }
  const later = (): void => {
    scheduled = false
    push()
  }
  return {
    write(text) {
      held.push(text)
      size += text.length
      if (size >= chunkSize) push()
      else if (!scheduled) {
        scheduled = true
        setImmediate(later)
      }
      return full === undefined ? undefined : waited(full)
    },
    async flush() {
      push()
      if (full !== undefined) await waited(full)
    },
  }
}

async function waited(full: Promise<unknown>): Promise<void> {
  await full
}

/** One line for people, on standard output. */
export function sayLine(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** One line beside the output, such as a summary or progress, on standard error. */
export function remark(line = ''): void {
  process.stderr.write(`${line}\n`)
}

/** A value for machines: JSON on standard output, indented for a terminal and on one line for a pipe. */
export function sayJson(value: unknown): void {
  sayLine(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined))
}
