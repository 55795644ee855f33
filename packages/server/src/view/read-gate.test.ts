import { expect, test } from 'vitest'
import { ReadGate } from './read-gate.ts'

const never = new AbortController().signal
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('at most so many reads of a user work at once, the others wait in order', async () => {
  const gate = new ReadGate({ reads: 3, readsPerUser: 2, waitingPerUser: 8 })
  const started: string[] = []
  const read = (name: string, user: string) =>
    gate.enter(user, never).then((leave) => {
      started.push(name)
      return leave
    })
  const [one, , third] = [read('a1', 'ada'), read('a2', 'ada'), read('a3', 'ada')]
  const bob = read('b1', 'bob')
  await turn()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  expect(gate.counts).toEqual({ active: 3, waiting: 1 })
  ;(await one)()
  ;(await one)() // twice is once
  await third
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3'])
  expect(gate.counts).toEqual({ active: 3, waiting: 0 })
  ;(await bob)()
  expect(gate.counts).toEqual({ active: 2, waiting: 0 })
})

test('the user with the fewest reads at work is next', async () => {
  const gate = new ReadGate({ reads: 2, readsPerUser: 2, waitingPerUser: 8 })
  const [first] = [await gate.enter('ada', never), await gate.enter('ada', never)]
  const started: string[] = []
  void gate.enter('ada', never).then(() => started.push('ada'))
  void gate.enter('bob', never).then(() => started.push('bob'))
  first()
  await turn()
  expect(started).toEqual(['bob'])
})

test('too many waiting reads are refused, and one whose client left waits no more', async () => {
  const gate = new ReadGate({ reads: 1, readsPerUser: 1, waitingPerUser: 1 })
  const leave = await gate.enter('ada', never)
  const gone = new AbortController()
  const waiting = gate.enter('ada', gone.signal)
  await expect(gate.enter('ada', never)).rejects.toMatchObject({ code: 'limit', facts: { retryAfter: 1 } })
  gone.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  await expect(gate.enter('ada', gone.signal)).rejects.toThrow('left')
  leave()
  expect(gate.counts).toEqual({ active: 0, waiting: 0 })
})
