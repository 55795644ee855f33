import { createInterface } from 'node:readline/promises'

/** Whether a person is there to be asked. */
export const isAsking = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Lines that were typed or pasted before their question came. */
const typedAhead = new WeakMap<object, string[]>()

/** What a person types; undefined when the input ends or Ctrl-C comes. The question is on standard error. */
export async function ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
  const { stdin: input, stderr: output } = process
  const ahead = typedAhead.get(input) ?? []
  typedAhead.set(input, ahead)
  const next = ahead.shift()
  // An input that has ended would never answer.
  if (next !== undefined || input.readableEnded) {
    output.write(`${question}${next ?? ''}\n`)
    return next
  }
  const lines = createInterface({ input, output })
  lines.on('line', (line) => ahead.push(line))
  const ended = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
    lines.once('SIGINT', () => {
      // The terminal is in raw mode now: the command's own listener must hear of it.
      process.emit('SIGINT')
      resolve(undefined)
    })
  })
  const answer = lines.question(question, signal === undefined ? {} : { signal })
  const typed = await Promise.race([answer, ended]).catch(() => undefined)
  lines.close()
  // Nobody has pressed Enter, so the next line would begin behind the question.
  if (typed === undefined) output.write('\n')
  return typed
}
