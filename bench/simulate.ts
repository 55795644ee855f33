import type { Row } from './kit/row.ts'
import { type Settings, World } from './simulation/world.ts'

export interface Simulated {
  readonly started: number
  readonly ended: number
  readonly twice: number
  readonly endings: number
  readonly gaps: number
  readonly unheard: number
  /** Milliseconds, ascending. */
  readonly takeovers: readonly number[]
  readonly count: World['count']
  /** Virtual time, in ms. */
  readonly took: number
}

/** The rules of leases, of takeover and of the doorbell as the server has them, over many replicas in virtual time. */
export function simulate(
  some: Partial<Settings> & Pick<Settings, 'seed' | 'replicas' | 'sessions' | 'duration'>,
): Simulated {
  const { replicas } = some
  const settings: Settings = {
    leaseTtl: 15_000,
    recoverEvery: 7_500,
    crashes: Math.ceil(replicas / 2),
    cuts: Math.ceil(replicas / 4),
    sleeps: Math.ceil(replicas / 4),
    slowDisks: 4,
    longestStep: 4_000,
    steps: (session) => 2 + (session % 4),
    resumable: (session) => session % 3 !== 0,
    isFollowed: (session) => session % 10 === 0,
    ...some,
  }
  const world = new World(settings)
  world.run()
  const { db, count, time } = world
  return {
    started: db.started,
    ended: db.ended,
    ...db.violations,
    unheard: count.followers - count.followed,
    takeovers: world.takeovers.toSorted((a, b) => a - b),
    count,
    took: time.now,
  }
}

export async function bench(): Promise<Row[]> {
  const [replicas, sessions, duration] = [1_000, 1_000_000, 20 * 60_000]
  const begun = performance.now()
  const seen = simulate({ seed: 20_261_116, replicas, sessions, duration })
  const { takeovers, count } = seen
  console.log(
    [
      `${replicas.toLocaleString('en')} replicas, ${sessions.toLocaleString('en')} sessions, ${minutes(seen.took)} of virtual time in ${minutes(performance.now() - begun)}`,
      `${takeovers.length.toLocaleString('en')} runs taken over: ${count.resume.toLocaleString('en')} resumed, ${count.end.toLocaleString('en')} ended; ${count.races.toLocaleString('en')} lost races, ${count.refused.toLocaleString('en')} writes of zombies refused, ${count.asked.toLocaleString('en')} lost answers looked up`,
      `${count.notifications.toLocaleString('en')} notifications, which PostgreSQL would deliver ${count.deliveries.toLocaleString('en')} times`,
      'from the loss of a run to its takeover, in seconds:',
      histogram(takeovers),
    ].join('\n'),
  )
  const none = (what: string, found: number): Row => ({
    what: `simulation: ${what}`,
    ours: found,
    peer: 'allowed',
    peerValue: 0,
    limit: '0',
    ratio: found,
    bar: '= 0',
    ok: found === 0,
  })
  const p99 = at(takeovers, 0.99) / 1000
  return [
    none('runs without their end', sessions - seen.ended),
    none('events twice, or out of order', seen.twice),
    none('rows after the end of a run', seen.endings),
    none('readers without the whole log', seen.unheard + seen.gaps),
    {
      what: 'simulation: from the loss of a run to its takeover, p99 in s',
      ours: p99,
      peer: 'twice the lease',
      peerValue: 30,
      limit: `p50 ${(at(takeovers, 0.5) / 1000).toFixed(1)}, longest ${(at(takeovers, 1) / 1000).toFixed(1)}`,
      ratio: p99 / 30,
      bar: '<= 1',
      ok: p99 <= 30,
    },
  ]
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${(ms / 1000).toFixed(0)} s` : `${(ms / 60_000).toFixed(1)} min`
}

/** One line for each bucket, as text. */
export function histogram(times: readonly number[], bucket = 2_500, width = 50): string {
  const counts: number[] = []
  for (const time of times) {
    const i = Math.floor(time / bucket)
    while (counts.length <= i) counts.push(0)
    counts[i] = (counts[i] ?? 0) + 1
  }
  const most = Math.max(1, ...counts)
  return counts
    .map((count, i) => {
      const bar = '#'.repeat(Math.ceil((count / most) * width))
      return `${((i * bucket) / 1000).toFixed(1).padStart(7)} ${bar} ${count}`
    })
    .join('\n')
}
