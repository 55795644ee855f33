import { expect, test } from 'vitest'
import { SharedAnswer } from './shared-answer.ts'

const never = new AbortController().signal
const all = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('an answer is made once for all who ask meanwhile, and each gets all of it', async () => {
  let made = 0
  let ended = 0
  const answer = new SharedAnswer(
    async function* () {
      made += 1
      for (const piece of ['a', 'b', 'c']) {
        await turn()
        yield piece
      }
    },
    () => {
      ended += 1
    },
  )
  const first = all(answer.read(never))
  await turn()
  await turn()
  expect(answer.isOpen).toBe(true)
  expect(await Promise.all([first, all(answer.read(never))])).toEqual(['abc', 'abc'])
  expect([made, ended, answer.isOpen]).toEqual([1, 1, false])
})

test('the maker waits for the slowest reader, and who comes late to a long answer does not join', async () => {
  const piece = 'x'.repeat(400_000)
  let made = 0
  const answer = new SharedAnswer(
    async function* () {
      for (; made < 20; made += 1) yield piece
    },
    () => undefined,
  )
  const slow = answer.read(never)
  await slow.next()
  for (let i = 0; i < 50; i++) await turn()
  expect(made).toBeLessThan(5)
  await slow.next()
  await slow.next()
  for (let i = 0; i < 50; i++) await turn()
  expect(answer.isOpen).toBe(false)
  expect((await all(slow)).length).toBe(17 * piece.length)
})

test('an error reaches every reader; the maker is stopped when the last has left', async () => {
  const broken = new SharedAnswer(
    // biome-ignore lint/correctness/useYield: it fails before its first piece
    async function* () {
      await turn()
      throw new Error('too much')
    },
    () => undefined,
  )
  const both = [broken.read(never).next(), broken.read(never).next()]
  for (const one of both) await expect(one).rejects.toThrow('too much')

  let stopped: AbortSignal | undefined
  const endless = new SharedAnswer(
    async function* (signal) {
      stopped = signal
      for (;;) {
        await turn()
        signal.throwIfAborted()
        yield 'x'
      }
    },
    () => undefined,
  )
  const left = new AbortController()
  const [one, other] = [endless.read(left.signal), endless.read(never)]
  await Promise.all([one.next(), other.next()])
  left.abort(new Error('left'))
  await expect(all(one)).rejects.toThrow('left')
  expect(stopped?.aborted).toBe(false)
  await other.return()
  expect(stopped?.aborted).toBe(true)
  expect(endless.isOpen).toBe(false)
})
