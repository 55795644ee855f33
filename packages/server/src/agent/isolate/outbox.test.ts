import { expect, test } from 'vitest'
import { Outbox } from './outbox.ts'
import { type FromProcess, noAnswer, readSent } from './protocol.ts'

const end = (call: number): FromProcess => ({ kind: 'end', call })
const report: FromProcess = { kind: 'calls', call: 1, of: noAnswer, name: 'modelCalled', args: [] }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function opened() {
  const sendings: (readonly FromProcess[])[] = []
  return { sendings, outbox: new Outbox((texts) => void sendings.push(readSent(texts))) }
}

test('a message goes at once, and takes the reports before it along', () => {
  const { outbox, sendings } = opened()
  outbox.send(report)
  expect(sendings).toEqual([])
  outbox.send(end(1))
  outbox.send(end(2))
  expect(sendings).toEqual([[report, end(1)], [end(2)]])
})

test('what runs send at the end of a turn goes together, after what went at once', async () => {
  const { outbox, sendings } = opened()
  outbox.atEndOfTurn(() => outbox.send(end(1)))
  outbox.atEndOfTurn(() => undefined)
  outbox.atEndOfTurn(() => outbox.send(end(2)))
  outbox.send(end(3))
  await nextTurn()
  expect(sendings).toEqual([[end(3)], [end(1), end(2)]])
  outbox.atEndOfTurn(() => undefined)
  await nextTurn()
  outbox.atEndOfTurn(() => outbox.send(end(4)))
  await nextTurn()
  expect(sendings.slice(2)).toEqual([[end(4)]])
})
