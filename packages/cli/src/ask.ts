import { createInterface } from 'node:readline/promises'

/** Whether a person is there to be asked. */
export const isAsking = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** What a person types; undefined when the input ends or Ctrl-C comes. The question is on standard error. */
export async function ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
    lines.once('SIGINT', () => {
      // The terminal is in raw mode now: the command's own listener must hear of it.
      process.emit('SIGINT')
      resolve(undefined)
    })
  })
  try {
    return await Promise.race([lines.question(question, signal === undefined ? {} : { signal }), ended])
  } catch {
    return undefined
  } finally {
    lines.close()
  }
}
