import { load } from '../test/kit/load.ts'
import type { Row } from './kit/row.ts'

const readers = 1000
const runs = 50
const seconds = 60
const perSecond = 20

/** From an agent's word to a reader's ear, everything between them real: HTTP, file, commit, encoding, sockets. */
export async function bench(): Promise<Row[]> {
  const { frames, lost, doubled, cut, delay, memory, cpu } = await load({ runs, readers, seconds, perSecond })
  const wanted = readers * seconds * perSecond
  const { before, thirds, after } = memory
  const [, middle = Number.NaN, late = Number.NaN] = thirds
  const megabytes = [before, ...thirds, after].map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(', ')
  const what = `${readers.toLocaleString('en')} readers of ${runs} runs for ${seconds} s, ${perSecond} tokens a second each`
  const faults = lost + doubled + cut + Math.abs(wanted - frames)
  return [
    {
      what: `${what}: frames lost, doubled or cut of ${wanted.toLocaleString('en')}`,
      ours: faults,
      peer: 'none may be',
      peerValue: 0,
      limit: '0',
      ratio: faults,
      bar: '= 0',
      ok: faults === 0,
    },
    {
      what: `${what}: ms from said to heard, 99 % (half of them: ${delay(0.5)}; the last: ${delay(1)}; ${cpu.toFixed(2)} of a core)`,
      ours: delay(0.99),
      peer: 'promised',
      peerValue: 100,
      limit: '0 ms',
      ratio: delay(0.99) / 100,
      bar: '< 1',
      ok: delay(0.99) < 100,
    },
    {
      // Tails and windows fill up to their bounds in the first half; from then on nothing may be added.
      what: `${what}: MiB held, the least in the last third (before, each third, after: ${megabytes})`,
      ours: late / 2 ** 20,
      peer: 'in the middle third',
      peerValue: middle / 2 ** 20,
      limit: '1',
      ratio: late / middle,
      bar: '≤ 1.2',
      ok: late / middle <= 1.2 && after / before <= 1.2,
    },
  ]
}
