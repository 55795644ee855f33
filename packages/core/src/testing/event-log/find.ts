import type { AdkPart } from '../../event/adk-event.ts'
import type { RunEvent } from '../../event/run-event.ts'
import type { EventLog, FindQuery, FoundRow } from '../../log/event-log.ts'
import { asideUser } from '../../log/set-aside.ts'
import { drafts, finished, type Kit, partialEvent, rejection } from './kit.ts'

const ann = { user: 'ann', agent: 'recovery' }
const bob = { user: 'bob', agent: 'recovery' }

const asked = (text: string): RunEvent => ({
  kind: 'run.started',
  agent: 'recovery',
  input: { messages: [{ id: 'm', role: 'user', content: { role: 'user', parts: [{ text }] } }] },
})
const did = (part: AdkPart, more: object = {}): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: { id: 'e', author: 'analyst', invocationId: 'i', timestamp: 1, content: { parts: [part] }, ...more },
})

/** Appends the events as one run. */
async function write(log: EventLog, session: string, run: string, ...events: readonly RunEvent[]): Promise<void> {
  const lease = await log.acquire(session, run, 'me', 60_000)
  await log.append(session, drafts(run, ...events), lease)
  await log.release(lease)
}

const found = async (log: EventLog, text: string, more: Partial<FindQuery> = {}): Promise<readonly FoundRow[]> =>
  (await log.find({ user: 'ann', text, ...more })).found
const places = async (log: EventLog, text: string, more: Partial<FindQuery> = {}): Promise<readonly string[]> =>
  (await found(log, text, more)).map(({ session, seq, kind }) => `${session}${seq} ${kind}`).sort()
const marked = ({ snippet }: FoundRow): readonly string[] =>
  snippet.marks.map(([start, end]) => snippet.text.slice(start, end))

export function findContract(kit: Kit): void {
  finding(kit)
  ordering(kit)
  wordsOfAnyScript(kit)
  changes(kit)
}

function finding({ check, expect }: Kit): void {
  check('does not find sessions that were deleted and can be brought back, whoever asks', async (log) => {
    for (const [id, user] of [
      ['a', 'ann'],
      ['b', asideUser('ann')],
    ] as const) {
      await log.create({ id, user, agent: 'recovery' })
      await write(log, id, 'r', asked('Where is the harbour?'), finished('done'))
    }
    const everyone = await log.find({ text: 'harbour' })
    expect(everyone.found.map(({ session }) => session)).toEqual(['a'])
    expect(everyone.sessions.map(({ id }) => id)).toEqual(['a'])
    expect(await places(log, 'harbour')).toEqual(['a1 message'])
  })
  check('finds messages, tools, keys of the state, errors, agents and plans, each with its place', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(
      log,
      'a',
      'r',
      asked('Where is the harbour?'),
      { kind: 'node.started', node: 'recovery/burn_analyst@1', agent: 'burn_analyst' },
      did({ functionCall: { id: 'c', name: 'get_weather', args: { city: 'Lisbon', days: 3 } } }),
      did({ functionResponse: { id: 'c', name: 'get_weather', response: { sky: { now: 'overcast' } } } }),
      did({ text: 'It is at the river.' }, { actions: { stateDelta: { river_map: { north_bank: 1 } } } }),
      { kind: 'state', patch: [{ op: 'add', path: '/budget/total', value: { currency: 'EUR' } }] },
      { kind: 'tasks', tasks: [{ id: 't', title: 'Buy tickets', status: 'pending', order: 0 }] },
      { kind: 'run.finished', outcome: 'failed', error: { code: 'model-error', message: 'quota exceeded' } },
    )
    expect(await places(log, 'harbour')).toEqual(['a1 message'])
    expect(await places(log, 'burn_analyst')).toEqual(['a2 agent'])
    expect(await places(log, 'weather')).toEqual(['a3 tool', 'a4 tool'])
    expect(await places(log, 'weather lisbon')).toEqual(['a3 tool'])
    expect(await places(log, 'overcast')).toEqual(['a4 tool'])
    expect(await places(log, 'river')).toEqual(['a5 message', 'a5 state'])
    expect(await places(log, 'north_bank')).toEqual(['a5 state'])
    expect(await places(log, 'budget currency')).toEqual(['a6 state'])
    expect(await places(log, 'tickets')).toEqual(['a7 plan'])
    expect(await places(log, 'quota')).toEqual(['a8 error'])
    expect(await places(log, 'river', { kind: 'message' })).toEqual(['a5 message'])
    const [row] = await found(log, 'harbour')
    expect(row).toEqual({
      session: 'a',
      seq: 1,
      at: (await log.read('a', { after: 0, limit: 1 }))[0]?.at,
      run: 'r',
      kind: 'message',
      author: 'user',
      snippet: { text: 'Where is the harbour?', marks: [[13, 20]] },
    })
    expect((await found(log, 'lisbon'))[0]?.author).toBe('analyst')
    expect((await log.find({ user: 'ann', text: 'harbour' })).sessions).toEqual([await log.get('a')])
  })
  check('another user’s words never appear, neither as rows nor as sessions, pages or progress', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'b', ...bob })
    await write(log, 'b', 'r', asked('the secret anchor'), did({ text: 'anchor '.repeat(30) }), finished('done'))
    const nothing = { found: [], sessions: [] }
    for (const order of ['best', 'newest'] as const)
      for (const limit of [1, 100])
        expect(await log.find({ user: 'ann', text: 'anchor', order, limit })).toEqual(nothing)
    expect(await log.find({ user: '', text: 'anchor' })).toEqual(nothing)
    await write(log, 'a', 'r', asked('my anchor'), finished('done'))
    const mine = await log.find({ user: 'ann', text: 'anchor', limit: 1 })
    expect(mine.found.map(({ session }) => session)).toEqual(['a'])
    expect(mine.next).toBe(undefined)
    // A cursor that names another user's row is only a place in the order.
    const his = await log.find({ user: 'bob', text: 'anchor', limit: 1 })
    expect(typeof his.next).toBe('string')
    for (const { session } of (await log.find({ user: 'ann', text: 'anchor', cursor: his.next ?? '' })).found)
      expect(session).toBe('a')
    // The order of ann's rows does not depend on what bob has.
    const before = await places(log, 'anchor')
    await log.remove('b')
    expect(await places(log, 'anchor')).toEqual(before)
    // Without a user, every session is searched.
    await log.create({ id: 'b2', ...bob })
    await write(log, 'b2', 'r', asked('anchor'), finished('done'))
    expect((await log.find({ text: 'anchor' })).found.map(({ session }) => session).sort()).toEqual(['a', 'b2'])
  })
  check('filters by agent, status and time, all together', async (log, clock) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'p', ...ann, agent: 'planner' })
    const first = clock.now()
    await write(log, 'a', 'r', asked('alpha'), finished('done'))
    clock.pass(1000)
    await write(log, 'p', 'r', asked('alpha'), finished('failed'))
    clock.pass(1000)
    await write(log, 'p', 'r2', asked('alpha two'))
    const alpha = (more: Partial<FindQuery>) => places(log, 'alpha', { kind: 'message', ...more })
    expect(await alpha({})).toEqual(['a1 message', 'p1 message', 'p3 message'])
    expect(await alpha({ agent: 'planner' })).toEqual(['p1 message', 'p3 message'])
    expect(await alpha({ status: 'running' })).toEqual(['p1 message', 'p3 message'])
    expect(await alpha({ status: 'done' })).toEqual(['a1 message'])
    expect(await alpha({ from: first + 1 })).toEqual(['p1 message', 'p3 message'])
    expect(await alpha({ to: first + 2000 })).toEqual(['a1 message', 'p1 message'])
    expect(await alpha({ agent: 'planner', status: 'running', from: first + 1500 })).toEqual(['p3 message'])
    expect(await alpha({ agent: 'nobody' })).toEqual([])
  })
  check('a search takes any text and is bounded', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('über near 7 "quoted" and not or'), finished('done'))
    for (const text of [
      '',
      ' ',
      '"',
      '* - ( )',
      '😀',
      "';--",
      '\0',
      '\ud800',
      '%',
      "' OR 1=1 --\0",
      '=ann',
      ':*',
      '!&|<->',
    ])
      expect(await places(log, text, { kind: 'message' })).toEqual([])
    for (const text of [
      'NEAR(',
      'near*',
      'AND NOT OR',
      '"quoted',
      "über'",
      'NEAR/7',
      'quoted:*',
      '7\0',
      '^near',
      '{near}: 7',
    ])
      expect(await places(log, text, { kind: 'message' })).toEqual(['a1 message'])
    expect(await places(log, `near ${'near '.repeat(5000)}`, { kind: 'message' })).toEqual(['a1 message'])
    expect(await places(log, `${'x'.repeat(5000)} near`)).toEqual([])
    for (const limit of [0, -1, 0.5, 1e9, Number.NaN])
      expect((await log.find({ user: 'ann', text: 'near', limit })).found.length).toBe(1)
    const odd = ['[1.5,2,3,"s","tool"]', '[1e12,2,3,"s","tool"]', '[1,2,1e300,"s","tool"]', '[1,2,-3,"s","tool"]']
    for (const cursor of ['', 'x', '[]', '[1,2,3,4,5]', '{"a":1}', 'null', ...odd])
      expect(await rejection(log.find({ user: 'ann', text: 'near', cursor }))).toBe('invalid')
    await log.close()
    expect(await rejection(log.find({ user: 'ann', text: 'near' }))).toBe('unavailable')
  })
}

function ordering({ check, expect }: Kit): void {
  check('the best match has the whole word in a short text; the newest is the last one said', async (log, clock) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('anchor'), finished('done'))
    clock.pass(10)
    await write(log, 'a', 'r2', asked(`the anchor of ${'a long text that goes on '.repeat(9)}`), finished('done'))
    clock.pass(10)
    await write(log, 'a', 'r3', asked('anchorage'), finished('done'))
    const seqs = async (order: 'best' | 'newest') =>
      (await found(log, 'anchor', { order, kind: 'message' })).map(({ seq }) => seq)
    expect(await seqs('best')).toEqual([1, 3, 5])
    expect(await seqs('newest')).toEqual([5, 3, 1])
    // What was said comes before the arguments of a tool.
    await write(log, 'a', 'r4', did({ functionCall: { id: 'c', name: 'anchor' } }), did({ text: 'the anchor holds' }))
    const kinds = (await found(log, 'anchor', { order: 'best' })).map(({ kind }) => kind)
    expect(kinds.indexOf('tool')).toBe(2)
  })
  check('pages do not overlap, leave nothing out, and stay apart from rows that come meanwhile', async (log, clock) => {
    for (const id of ['a', 'b']) {
      await log.create({ id, ...ann })
      for (let i = 0; i < 6; i++) {
        await write(log, id, `r${i}`, asked(`anchor ${i}`), did({ text: `anchor ${i}` }), finished('done'))
        if (i % 2 === 0) clock.pass(1)
      }
    }
    for (const order of ['best', 'newest'] as const) {
      const all = await found(log, 'anchor', { order, limit: 100 })
      expect(all.length).toBe(24)
      const seen: FoundRow[] = []
      let cursor: string | undefined
      do {
        const page = await log.find({ user: 'ann', text: 'anchor', order, limit: 5, ...(cursor ? { cursor } : {}) })
        seen.push(...page.found)
        cursor = page.next
      } while (cursor !== undefined)
      expect(seen).toEqual(all)
    }
    const first = await log.find({ user: 'ann', text: 'anchor', order: 'newest', limit: 5 })
    await write(log, 'a', 'late', asked('anchor late'), finished('done'))
    const second = await log.find({
      user: 'ann',
      text: 'anchor',
      order: 'newest',
      limit: 100,
      cursor: first.next ?? '',
    })
    expect(second.found.length).toBe(19)
  })
}

function wordsOfAnyScript({ check, expect }: Kit): void {
  check('the last word is found by its beginning, whatever case, accents and form of Unicode', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(
      log,
      'a',
      'r',
      asked('Café Zürich für Ångström; Ελλάδα, ПРИВЕТ мир, ﬁnance, getWeather'),
      finished('done'),
    )
    const texts = [
      'cafe',
      'CAFÉ',
      'cafe\u0301',
      'zur',
      'angstrom',
      'ελλαδα',
      'привет ми',
      'finance',
      'cafe zu',
      'weath',
    ]
    for (const text of texts)
      expect([text, await places(log, text, { kind: 'message' })]).toEqual([text, ['a1 message']])
    // Words before the last one are whole, and one letter alone is no beginning.
    for (const text of ['caf zurich', 'c', 'urich']) expect(await places(log, text, { kind: 'message' })).toEqual([])
    expect(marked((await found(log, 'zurich caf'))[0] as FoundRow)).toEqual(['Caf', 'Zürich'])
  })
  check('scripts without spaces are found by any run of their letters', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('東京都庁へ行きます。한국어 문장, สวัสดีครับ, हिन्दी, שָׁלוֹם, مَرْحَبًا'), finished('done'))
    const texts = ['東', '京都', '都庁へ', '行きます', '庁', '한국', 'สวัส', 'ครับ', 'हिन्दी', 'שלום', 'مرحبا']
    for (const text of texts) expect([text, await places(log, text)]).toEqual([text, ['a1 message']])
    for (const text of ['京東', '大阪', '한국인']) expect(await places(log, text)).toEqual([])
    expect(marked((await found(log, '京都'))[0] as FoundRow)).toEqual(['京都'])
  })
  check('a snippet is short, begins near the match and marks every word in it', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(
      log,
      'a',
      'r',
      asked(`${'lorem ipsum '.repeat(99)}\n\nthe  anchor😀 holds the ship ${'dolor '.repeat(99)}`),
      finished('done'),
    )
    const [row] = await found(log, 'ship anchor')
    expect(marked(row as FoundRow)).toEqual(['anchor', 'ship'])
    expect(row?.snippet.text.length ?? 0).toBeLessThan(170)
    expect(row?.snippet.text.startsWith('…')).toBe(true)
    expect(row?.snippet.text.includes('the anchor😀 holds the ship')).toBe(true)
  })
}

function changes({ check, expect }: Kit): void {
  check('new rows are found at once, also of an open run; partials and removed sessions are not', async (log) => {
    await log.create({ id: 'a', ...ann })
    const lease = await log.acquire('a', 'r', 'me', 60_000)
    await log.append('a', drafts('r', asked('alpha')), lease)
    expect(await places(log, 'alpha')).toEqual(['a1 message'])
    await log.append('a', drafts('r', partialEvent('m', 'alpha beta', true)), lease)
    expect(await places(log, 'alpha')).toEqual(['a1 message'])
    await log.append('a', drafts('r', partialEvent('m', 'alpha beta'), finished('done')), lease)
    await log.release(lease)
    expect(await places(log, 'alpha')).toEqual(['a1 message', 'a3 message'])
    const rows = await log.read('a', { after: 0 })
    await log.remove('a')
    expect(await places(log, 'alpha')).toEqual([])
    await log.create({ id: 'a', ...ann })
    expect(await places(log, 'alpha')).toEqual([])
    await log.restore({ id: 'z', ...ann }, rows)
    expect(await places(log, 'alpha')).toEqual(['z1 message', 'z3 message'])
    await log.prune(Number.MAX_SAFE_INTEGER)
    expect(await places(log, 'beta')).toEqual(['z3 message'])
  })
  check('a fork is found by the rows that it shares, and keeps them when its origin is removed', async (log) => {
    if (log.fork === undefined) return
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('alpha'), did({ text: 'beta' }), finished('done'))
    await log.fork('a', 1, { id: 'f', ...ann }, [])
    expect(await places(log, 'alpha')).toEqual(['a1 message', 'f1 message'])
    expect(await places(log, 'beta')).toEqual(['a2 message'])
    await log.remove('a')
    expect(await places(log, 'alpha')).toEqual(['f1 message'])
    expect((await found(log, 'alpha'))[0]?.snippet.text).toBe('alpha')
  })
  check('rows of odd shapes, as an unchecked file may hold them, stop no search', async (log) => {
    const odd = [
      { kind: 'agent', event: { author: 7, content: { parts: [null, 'x', { text: 5 }, { functionCall: 1 }] } } },
    ]
    const more = [{ kind: 'run.started', agent: 3, input: { messages: [null, { content: 'x' }] } }]
    const rows = [...odd, ...more].map((event, i) => ({
      seq: i + 1,
      at: 1,
      run: 'r',
      event: event as unknown as RunEvent,
    }))
    const good = { seq: 9, at: 1, run: 'r', event: did({ text: 'alpha' }) }
    await log.restore({ id: 'a', ...ann }, [...rows, good])
    expect(await places(log, 'alpha')).toEqual(['a9 message'])
  })
}
