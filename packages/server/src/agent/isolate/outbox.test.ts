import { expect, test } from 'vitest'
import { Outbox } from './outbox.ts'
import { type FromProcess, readSent } from './protocol.ts'

const end = (call: number): FromProcess => ({ kind: 'end', call })
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function opened() {
  const sendings: (readonly FromProcess[])[] = []
  return { sendings, outbox: new Outbox((texts) => void sendings.push(readSent(texts))) }
}

test('a message goes at once, and takes what waits along', () => {
  const { outbox, sendings } = opened()
  outbox.sendSoon(end(0))
  expect(sendings).toEqual([])
  outbox.send(end(1))
  outbox.send(end(2))
  expect(sendings).toEqual([[end(0), end(1)], [end(2)]])
})

test('what runs send at the end of a turn goes together, after what went at once', async () => {
  const { outbox, sendings } = opened()
  outbox.atEndOfTurn(() => outbox.sendSoon(end(1)))
  outbox.atEndOfTurn(() => outbox.sendSoon(end(2)))
  outbox.send(end(3))
  outbox.sendSoon(end(4))
  await nextTurn()
  expect(sendings).toEqual([[end(3)], [end(4), end(1), end(2)]])
  outbox.atEndOfTurn(() => undefined)
  await nextTurn()
  outbox.sendSoon(end(5))
  outbox.flush()
  await nextTurn()
  expect(sendings.slice(2)).toEqual([[end(5)]])
})

test('much does not wait for the end of the turn', () => {
  const { outbox, sendings } = opened()
  const fault: FromProcess = { kind: 'fault', message: 'x'.repeat(40_000) }
  outbox.sendSoon(fault)
  expect(sendings).toEqual([])
  outbox.sendSoon(fault)
  expect(sendings).toEqual([[fault, fault]])
})
