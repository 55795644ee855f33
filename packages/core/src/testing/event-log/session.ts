import type { EventLog, NewSession } from '../../log/event-log.ts'
import { sessionKey } from '../../log/session-key.ts'
import { asideUser } from '../../log/set-aside.ts'
import { type Kit, mine, notes, rejection } from './kit.ts'

export function sessionContract(kit: Kit): void {
  oneSession(kit)
  names(kit)
  listing(kit)
}

function oneSession({ check, expect }: Kit): void {
  check('create makes an empty session', async (log, { now }) => {
    const made = await log.create({ ...mine, title: 'Burn scar' })
    const empty = { status: 'idle', lastSeq: 0, events: 0, runs: 0, createdAt: now(), updatedAt: now() }
    expect(made).toEqual({ ...mine, title: 'Burn scar', ...empty })
    expect(await log.get('s')).toEqual(made)
    expect((await log.create({ ...mine, id: 't' })).title).toBe('')
    expect(await log.get('nobody')).toBe(undefined)
  })
  check('an id that is taken is a conflict, whoever has it', async (log) => {
    const made = await log.create(mine)
    expect(await rejection(log.create({ ...mine, user: 'bob' }))).toBe('conflict')
    expect(await rejection(log.restore({ ...mine, user: 'bob' }, []))).toBe('conflict')
    expect(await log.get('s')).toEqual(made)
  })
  check('of many that create one id at once, one wins', async (log) => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => rejection(log.create(mine))))
    expect(codes.filter((code) => code === 'resolved').length).toBe(1)
    expect(codes.filter((code) => code === 'conflict').length).toBe(19)
  })
  check('forkOf is kept', async (log) => {
    const forkOf = { session: 'origin', seq: 7 }
    expect((await log.create({ ...mine, forkOf })).forkOf).toEqual(forkOf)
    expect((await log.get('s'))?.forkOf).toEqual(forkOf)
  })
  check('rename changes the title alone', async (log, clock) => {
    const made = await log.create(mine)
    clock.pass(5)
    expect(await log.rename('s', 'Über “trails” %_')).toEqual({ ...made, title: 'Über “trails” %_' })
    expect(await log.get('s')).toEqual({ ...made, title: 'Über “trails” %_' })
    expect(await rejection(log.rename('nobody', 'x'))).toBe('not-found')
  })
  check('remove takes the events with it, and the id is free again', async (log) => {
    await log.create(mine)
    await log.append('s', notes(3))
    await log.remove('s')
    expect(await log.get('s')).toBe(undefined)
    expect(await rejection(log.read('s', { after: 0 }))).toBe('not-found')
    expect(await rejection(log.append('s', notes(1)))).toBe('not-found')
    expect(await rejection(log.remove('s'))).toBe('not-found')
    await log.create({ ...mine, user: 'bob' })
    expect(await log.read('s', { after: 0 })).toEqual([])
    expect((await log.append('s', notes(1)))[0]).toMatchObject({ seq: 1 })
  })
  check('after close every call is refused, and closing again is fine', async (log) => {
    await log.create(mine)
    await log.close()
    await log.close()
    expect(await rejection(log.get('s'))).toBe('unavailable')
    expect(await rejection(log.append('s', notes(1)))).toBe('unavailable')
    expect(await rejection(log.read('s', { after: 0 }))).toBe('unavailable')
    expect(await rejection(log.create({ ...mine, id: 't' }))).toBe('unavailable')
    expect(await rejection(log.list({}))).toBe('unavailable')
    expect(await rejection(log.expired())).toBe('unavailable')
    expect(await rejection(log.heldBy('me'))).toBe('unavailable')
  })
  check('what was asked before close is done', async (log) => {
    await log.create(mine)
    const asked = log.append('s', notes(2))
    await log.close()
    expect((await asked).map(({ seq }) => seq)).toEqual([1, 2])
  })
}

function names({ check, expect }: Kit): void {
  check('names that a store could confuse are invalid', async (log) => {
    for (const bad of ['a\0b', 'x\ud800', '\udc00y']) {
      expect(await rejection(log.create({ ...mine, id: bad }))).toBe('invalid')
      expect(await rejection(log.create({ ...mine, user: bad }))).toBe('invalid')
      expect(await rejection(log.create({ ...mine, agent: bad }))).toBe('invalid')
      expect(await rejection(log.create({ ...mine, title: bad }))).toBe('invalid')
    }
    expect(await rejection(log.create({ ...mine, id: '' }))).toBe('invalid')
    expect((await log.list({})).total).toBe(0)
    await log.create(mine)
    expect(await rejection(log.rename('s', 'a\0b'))).toBe('invalid')
    expect(await rejection(log.acquire('s', 'r\0', 'me', 10))).toBe('invalid')
    expect(await rejection(log.acquire('s', '', 'me', 10))).toBe('invalid')
    expect(await rejection(log.acquire('s', 'r', 'me\ud800', 10))).toBe('invalid')
  })
  check('any other text is a name', async (log) => {
    const odd = [
      "o'hara; drop table session --",
      'emoji 😀 ünïcode 漢字',
      '  ',
      '%',
      '../../x',
      'line\nbreak',
      '"',
      '\\',
    ]
    for (const id of odd) await log.create({ id, user: id, agent: id, title: id })
    for (const id of odd) expect(await log.get(id)).toMatchObject({ id, user: id, agent: id, title: id })
    for (const user of odd) expect((await log.list({ user })).sessions.map(({ id }) => id)).toEqual([user])
  })
}

function listing({ check, expect }: Kit): void {
  const ids = async (log: EventLog, query: Parameters<EventLog['list']>[0]): Promise<readonly string[]> =>
    (await log.list(query)).sessions.map(({ id }) => id)
  const make = async (log: EventLog, ...sessions: readonly Partial<NewSession>[]): Promise<void> => {
    for (const session of sessions) await log.create({ ...mine, ...session })
  }

  check('a list holds one user only; without a user, all', async (log) => {
    await make(log, { id: 'a' }, { id: 'b', user: 'bob' }, { id: 'c' }, { id: 'd', user: 'ANN' })
    expect(await ids(log, { user: 'ann' })).toEqual(['c', 'a'])
    expect(await log.list({ user: 'bob' })).toMatchObject({ total: 1 })
    expect(await ids(log, { user: 'nobody' })).toEqual([])
    expect(await ids(log, {})).toEqual(['d', 'c', 'b', 'a'])
  })
  check('newest first, by the last event; ties by id', async (log, clock) => {
    await make(log, { id: 'a' }, { id: 'b' }, { id: 'c' })
    clock.pass(10)
    await log.append('a', notes(1))
    expect(await ids(log, { user: 'ann' })).toEqual(['a', 'c', 'b'])
    clock.pass(10)
    await log.append('b', notes(1))
    expect(await ids(log, { user: 'ann' })).toEqual(['b', 'a', 'c'])
  })
  check('filters by agent, status and search, all together', async (log) => {
    await make(
      log,
      { id: 'a', title: 'Élan vital' },
      { id: 'b', agent: 'planner', title: '100% _done_' },
      { id: 'CamelId' },
    )
    const { run, epoch } = await log.acquire('a', 'r', 'me', 10)
    await log.append('a', [{ run, event: { kind: 'run.started', agent: 'x', input: { messages: [] } } }], {
      run,
      epoch,
    })
    expect(await ids(log, { user: 'ann', agent: 'planner' })).toEqual(['b'])
    expect(await ids(log, { user: 'ann', status: 'running' })).toEqual(['a'])
    expect(await ids(log, { user: 'ann', search: 'éLAN' })).toEqual(['a'])
    expect(await ids(log, { user: 'ann', search: 'camelID' })).toEqual(['CamelId'])
    expect(await ids(log, { user: 'ann', search: '0% _' })).toEqual(['b'])
    expect(await ids(log, { user: 'ann', search: '%' })).toEqual(['b'])
    expect(await ids(log, { user: 'ann', search: 'vital', agent: 'planner' })).toEqual([])
    await log.rename('a', 'Renamed')
    expect(await ids(log, { user: 'ann', search: 'renamed' })).toEqual(['a'])
    expect(await ids(log, { user: 'ann', search: 'vital' })).toEqual([])
  })
  check('a search looks in the id that the user gave, not in the user that is part of the key', async (log) => {
    const [one, two] = [sessionKey('ann', 'trip'), sessionKey('ann', 'annual')]
    await make(log, { id: one }, { id: two })
    expect(await ids(log, { user: 'ann', search: 'ann' })).toEqual([two])
    expect(await ids(log, { user: 'ann', search: 'trip' })).toEqual([one])
  })
  check('users are listed by name, with how much they have', async (log, clock) => {
    expect(await log.users({})).toEqual({ users: [], total: 0 })
    await make(log, { id: 'a' }, { id: 'b', user: 'bob' }, { id: 'c' })
    clock.pass(10)
    const [row] = await log.append('a', notes(3))
    const { users, total } = await log.users({})
    expect(total).toBe(2)
    expect(users.map(({ user, sessions, events }) => [user, sessions, events])).toEqual([
      ['ann', 2, 3],
      ['bob', 1, 0],
    ])
    expect(users[0]?.updatedAt).toBe(row?.at)
    expect((await log.users({ limit: 1, offset: 1 })).users.map(({ user }) => user)).toEqual(['bob'])
    await log.remove('b')
    expect((await log.users({})).total).toBe(1)
    await log.close()
    expect(await rejection(log.users({}))).toBe('unavailable')
  })
  check('deleted sessions that can be brought back are in a list of their own', async (log) => {
    const aside = sessionKey(asideUser('ann'), 'b')
    await make(log, { id: 'a' }, { id: aside, user: asideUser('ann') })
    expect(await ids(log, {})).toEqual(['a'])
    expect(await ids(log, { user: 'ann' })).toEqual(['a'])
    expect(await ids(log, { aside: true })).toEqual([aside])
    expect(await ids(log, { aside: true, user: asideUser('ann') })).toEqual([aside])
    expect((await log.users({})).users.map(({ user }) => user)).toEqual(['ann'])
    expect((await log.users({})).total).toBe(1)
  })
  check('pages do not overlap, and total counts what the filter lets through', async (log) => {
    await make(log, ...Array.from({ length: 120 }, (_, i) => ({ id: `s${String(i).padStart(3, '0')}` })))
    await make(log, { id: 'other', user: 'bob' })
    const pages = await Promise.all([0, 50, 100, 150].map((offset) => log.list({ user: 'ann', limit: 50, offset })))
    expect(pages.map(({ sessions }) => sessions.length)).toEqual([50, 50, 20, 0])
    expect(pages.map(({ total }) => total)).toEqual([120, 120, 120, 120])
    expect(new Set(pages.flatMap(({ sessions }) => sessions.map(({ id }) => id))).size).toBe(120)
    expect((await log.list({ user: 'ann' })).sessions.length).toBe(100)
    expect((await log.list({ user: 'ann', limit: 0 })).sessions.length).toBe(1)
    expect((await log.list({ user: 'ann', limit: 9_999 })).sessions.length).toBe(120)
  })
}
