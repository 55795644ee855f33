import type { RunEvent } from '../../event/run-event.ts'
import type { EventLog, Lease } from '../../log/event-log.ts'
import { memoryLog } from '../../log/memory-log.ts'
import { rowKindOf } from '../../log/retention.ts'
import { type Dice, dice } from '../dice.ts'
import { drafts, finished, type Kit, note, notes, partialEvent, rejection, started, type TestClock } from './kit.ts'

/** A few hundred random calls, made to the log and to `memoryLog` alike: same answers, same refusals, same rows. */
export function modelContract({ check, expect }: Kit): void {
  for (const seed of [1, 2, 3]) {
    check(`random calls give the same answers (seed ${seed})`, async (log, clock) => {
      const reference = memoryLog(clock.now)
      const random = dice(seed)
      const held: Lease[] = []
      for (let step = 0; step < 300; step++) {
        const call = randomCall(random, held, clock)
        const [ours, theirs] = [await answer(call(log)), await answer(call(reference))]
        expect({ step, answer: ours }).toEqual({ step, answer: theirs })
        if (isLease(ours)) held.push(ours)
      }
      for (const id of ids) expect(await everything(log, id)).toEqual(await everything(reference, id))
    })
  }
}

type Call = (log: EventLog) => Promise<unknown>

const ids = ['a', 'b', 'c'] as const
const events: readonly RunEvent[] = [
  started,
  partialEvent('m', 'x', true),
  partialEvent('m', 'x'),
  partialEvent('n', 'y', true),
  note('n'),
  finished('done'),
  finished('failed'),
]

function randomCall(random: Dice, held: readonly Lease[], clock: TestClock): Call {
  const id = ids[random(ids.length)] ?? 'a'
  const run = `r${random(3)}`
  const lease = held[held.length - 1 - random(Math.min(4, held.length))]
  // The same partial several times, because a store may keep those that follow each other together.
  const some = Array.from({ length: random(4) }, () => {
    const event = events[random(events.length)] ?? note('')
    return Array.from({ length: rowKindOf(event) === 'partial' ? 1 + random(5) : 1 }, () => event)
  }).flat()
  const ttl = random(40)
  const after = random(30)
  if (random(6) === 0) clock.pass(random(20))
  const before = clock.now() - random(30)
  const calls: readonly Call[] = [
    (log) => log.create({ id, user: `u${after % 2}`, agent: run }),
    (log) => log.append(id, notes(some.length)),
    (log) => log.append(id, drafts(run, ...some), lease),
    (log) => (lease === undefined ? log.get(id) : log.append(lease.session, drafts(lease.run, ...some), lease)),
    (log) => (lease === undefined ? log.get(id) : log.append(lease.session, drafts(lease.run, ...some), lease)),
    (log) => log.acquire(id, run, `o${after % 2}`, ttl),
    (log) => (lease === undefined ? log.get(id) : log.renew(lease, ttl)),
    (log) => (lease === undefined ? log.get(id) : log.release(lease)),
    (log) => (lease === undefined ? log.get(id) : log.takeOver(lease, 'heir', ttl)),
    (log) => log.takeOver({ session: id, run }, 'heir', ttl),
    async (log) => [...(await log.expired(after % 2 === 0 ? 'o1' : undefined))].sort(byPlace),
    (log) => log.list({ user: `u${after % 2}`, limit: 2, offset: ttl % 3 }),
    (log) => log.list(ttl % 2 === 0 ? { status: 'running' } : { search: run }),
    (log) => log.read(id, { after, limit: ttl }),
    (log) => (ttl % 2 === 0 ? log.facts(id, after) : log.startOf(id, run)),
    (log) => (ttl < 8 ? log.remove(id) : log.rename(id, run)),
    (log) => log.prune(before),
  ]
  return calls[random(calls.length)] ?? ((log) => log.get(id))
}

/** What a call comes to: its value, or the code it was refused with. */
async function answer(call: Promise<unknown>): Promise<unknown> {
  const code = await rejection(call)
  return code === 'resolved' ? call : code
}

async function everything(log: EventLog, id: string): Promise<unknown> {
  const info = await log.get(id)
  return info === undefined ? undefined : { info, rows: await log.read(id, { after: 0 }) }
}

function isLease(value: unknown): value is Lease {
  return typeof value === 'object' && value !== null && 'epoch' in value && 'until' in value
}

function byPlace(a: Lease, b: Lease): number {
  return a.session < b.session || (a.session === b.session && a.run < b.run) ? -1 : 1
}
