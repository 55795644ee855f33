import type { ArtifactSaved, RunEvent } from '../../event/run-event.ts'
import type { JsonObject, PatchOp } from '../../json/json.ts'
import type { EventLog } from '../../log/event-log.ts'
import { drafts, finished, type Kit, partialEvent, rejection } from './kit.ts'

const ann = { user: 'ann', agent: 'recovery' }
const bob = { user: 'bob', agent: 'recovery' }

const wrote = (stateDelta: JsonObject, partial = false): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: {
    id: 'e',
    author: 'recovery',
    invocationId: 'i',
    timestamp: 1,
    actions: { stateDelta },
    ...(partial ? { partial } : {}),
  },
})
const edit = (...patch: PatchOp[]): RunEvent => ({ kind: 'state', patch })
const asked = (text: string): RunEvent => ({
  kind: 'run.started',
  agent: 'recovery',
  input: { messages: [{ id: 'm', role: 'user', content: { role: 'user', parts: [{ text }] } }] },
})
const saved = (version: number, text: string): ArtifactSaved => ({
  kind: 'artifact',
  id: 'user:a',
  name: 'user:a',
  type: 'document',
  version,
  part: { text },
})

/** Appends the events as one run. */
async function write(log: EventLog, session: string, run: string, ...events: readonly RunEvent[]): Promise<void> {
  const lease = await log.acquire(session, run, 'me', 60_000)
  await log.append(session, drafts(run, ...events), lease)
  await log.release(lease)
}

export function sharedContract(kit: Kit): void {
  sharedState(kit)
  sharedArtifacts(kit)
  searching(kit)
}

function sharedState({ check, expect }: Kit): void {
  check('a user who is forgotten has no shared values with any agent; others keep theirs', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'p', ...ann, agent: 'planner' })
    await log.create({ id: 'b', ...bob })
    await write(log, 'a', 'r', wrote({ 'user:name': 'Ann', 'app:motto': 'safe' }), saved(0, 'hers'))
    await write(log, 'p', 'r', wrote({ 'user:name': 'Ann' }))
    await write(log, 'b', 'r', wrote({ 'user:name': 'Bob' }), saved(0, 'his'))
    await log.forgetUser('')
    expect(await log.sharedState(ann)).toEqual({ 'user:name': 'Ann', 'app:motto': 'safe' })
    await log.forgetUser('ann')
    expect(await log.sharedState(ann)).toEqual({ 'app:motto': 'safe' })
    expect(await log.sharedState({ ...ann, agent: 'planner' })).toEqual({})
    expect(await log.sharedArtifacts(ann)).toEqual([])
    expect(await log.sharedState(bob)).toEqual({ 'user:name': 'Bob', 'app:motto': 'safe' })
    expect((await log.sharedArtifacts(bob)).length).toBe(1)
    expect((await log.read('a', { after: 0 })).length).toBe(2)
  })
  check('SPEC 2.11: user: values are shared by a user, app: values by all, others by none', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'b', ...bob })
    await write(log, 'a', 'r', wrote({ 'user:name': 'Ann', 'app:motto': 'safe', own: 1, 'temp:t': 1 }))
    expect(await log.sharedState(ann)).toEqual({ 'user:name': 'Ann', 'app:motto': 'safe' })
    expect(await log.sharedState(bob)).toEqual({ 'app:motto': 'safe' })
    expect(await log.sharedState({ ...ann, agent: 'other' })).toEqual({})
    await write(log, 'b', 'r', wrote({ 'user:name': null, 'app:motto': { is: ['new'] } }))
    expect(await log.sharedState(ann)).toEqual({ 'user:name': 'Ann', 'app:motto': { is: ['new'] } })
    expect(await log.sharedState(bob)).toEqual({ 'user:name': null, 'app:motto': { is: ['new'] } })
  })
  check('a person’s edit writes them; a patch of a run and a partial do not', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.append(
      'a',
      drafts('', edit({ op: 'add', path: '/user:p', value: { x: 1 } }, { op: 'add', path: '/k', value: 1 })),
    )
    await log.append('a', drafts('', edit({ op: 'replace', path: '/user:p/x', value: 2 })))
    await write(log, 'a', 'r', edit({ op: 'add', path: '/user:p', value: 'old' }), wrote({ 'user:p': 'half' }, true))
    expect(await log.sharedState(ann)).toEqual({ 'user:p': { x: 2 } })
    await log.append('a', drafts('', edit({ op: 'remove', path: '/user:p' })))
    expect(await log.sharedState(ann)).toEqual({})
  })
  check('they outlive their session, and a restored session changes none', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', wrote({ 'user:n': 1 }))
    const rows = await log.read('a', { after: 0 })
    await log.remove('a')
    expect(await log.sharedState(ann)).toEqual({ 'user:n': 1 })
    await log.create({ id: 'b', ...ann })
    await write(log, 'b', 'r', wrote({ 'user:n': 2 }))
    await log.restore({ id: 'a', ...ann }, rows)
    expect(await log.sharedState(ann)).toEqual({ 'user:n': 2 })
  })
}

function sharedArtifacts({ check, expect }: Kit): void {
  check('artifacts named user:… are the user’s, with every version, until they are deleted', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'b', ...ann })
    await write(log, 'a', 'r', saved(0, 'zero'), { ...saved(0, 'mine'), name: 'own', id: 'own' })
    await write(log, 'b', 'r', saved(1, 'one'))
    expect(await log.sharedArtifacts(ann)).toEqual([saved(0, 'zero'), saved(1, 'one')])
    expect(await log.sharedArtifacts(bob)).toEqual([])
    const { part: _, ...gone } = { ...saved(1, ''), deleted: true }
    await write(log, 'a', 'r2', gone)
    expect(await log.sharedArtifacts(ann)).toEqual([gone])
  })
}

function searching({ check, expect }: Kit): void {
  const ids = async (log: EventLog, text: string, more: object = {}): Promise<readonly string[]> =>
    (await log.search({ ...ann, text, ...more })).map(({ session, row }) => `${session}${row.seq}`)

  check('a search finds whole messages of ended runs, of this user and agent only', async (log) => {
    await log.create({ id: 'a', ...ann })
    await log.create({ id: 'b', ...bob })
    await log.create({ id: 'c', ...ann, agent: 'other' })
    const talk = [asked('My dog is Rex'), partialEvent('m', 'Rex', true), partialEvent('m', 'Rex is a good DOG')]
    for (const id of ['a', 'b', 'c']) await write(log, id, 'r', ...talk, finished('done'))
    expect([...(await ids(log, 'dog?'))].sort()).toEqual(['a1', 'a3'])
    expect(await ids(log, 'a GOOD one')).toEqual(['a3'])
    expect((await log.search({ ...ann, text: 'good' }))[0]?.row).toEqual((await log.read('a', { after: 2 }))[0])
    expect(await ids(log, 'cat')).toEqual([])
    expect((await ids(log, 'dog', { limit: 1 })).length).toBe(1)
  })
  check('the row with more of the words comes first', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('alpha'), partialEvent('m', 'alpha beta gamma'), finished('done'))
    expect(await ids(log, 'alpha beta gamma')).toEqual(['a2', 'a1'])
  })
  check('an open run and the session that asks are found once remembered', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('alpha'), finished('done'))
    await write(log, 'a', 'r2', asked('alpha again'))
    expect(await ids(log, 'alpha')).toEqual(['a1'])
    expect(await ids(log, 'alpha', { from: 'a' })).toEqual([])
    await log.remember('a')
    expect(await ids(log, 'again')).toEqual(['a3'])
    expect([...(await ids(log, 'alpha', { from: 'a' }))].sort()).toEqual(['a1', 'a3'])
    expect(await rejection(log.remember('nobody'))).toBe('not-found')
  })
  check('new messages are found, those of a removed session are not', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('alpha'), finished('done'))
    expect(await ids(log, 'alpha')).toEqual(['a1'])
    await write(log, 'a', 'r2', asked('alpha'), finished('failed'))
    expect([...(await ids(log, 'alpha'))].sort()).toEqual(['a1', 'a3'])
    const rows = await log.read('a', { after: 0 })
    await log.remove('a')
    expect(await ids(log, 'alpha')).toEqual([])
    await log.restore({ id: 'z', ...ann }, rows)
    expect([...(await ids(log, 'alpha'))].sort()).toEqual(['z1', 'z3'])
  })
  check('a search takes any text', async (log) => {
    await log.create({ id: 'a', ...ann })
    await write(log, 'a', 'r', asked('über near 7 "quoted"'), finished('done'))
    for (const text of ['', '"', '* OR -', 'NEAR(', 'text:', '😀', "';--"])
      expect(await ids(log, text)).toEqual(text === 'NEAR(' ? ['a1'] : [])
    expect(await ids(log, 'ÜBER')).toEqual(['a1'])
    expect(await ids(log, '7')).toEqual(['a1'])
    expect(await ids(log, `${'word '.repeat(5000)} quoted`.slice(-60))).toEqual(['a1'])
  })
}
