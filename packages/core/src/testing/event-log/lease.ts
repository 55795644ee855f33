import { drafts, finished, type Kit, mine, note, notes, rejection, seqs, started } from './kit.ts'

export function leaseContract(kit: Kit): void {
  holding(kit)
  fencing(kit)
  recovering(kit)
}

function holding({ check, expect }: Kit): void {
  check('acquire opens a run; epochs only grow', async (log, clock) => {
    await log.create(mine)
    const first = await log.acquire('s', 'r1', 'me', 100)
    expect(first).toEqual({ session: 's', run: 'r1', owner: 'me', epoch: first.epoch, until: clock.now() + 100 })
    await log.release(first)
    const second = await log.acquire('s', 'r2', 'me', 100)
    expect(second.epoch).toBeGreaterThan(first.epoch)
    expect(await rejection(log.acquire('nobody', 'r', 'me', 100))).toBe('not-found')
  })
  check('busy while a lease is live, for any run and any owner', async (log, clock) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r1', 'me', 100)
    expect(await rejection(log.acquire('s', 'r2', 'you', 100))).toBe('busy')
    expect(await rejection(log.acquire('s', 'r1', 'me', 100))).toBe('busy')
    expect(await rejection(log.remove('s'))).toBe('busy')
    clock.pass(99)
    expect(await rejection(log.acquire('s', 'r2', 'you', 100))).toBe('busy')
    clock.pass(1)
    await log.acquire('s', 'r2', 'you', 100)
    expect(await rejection(log.renew(lease, 100))).toBe('lease-lost')
  })
  check('two starts at once: one run', async (log) => {
    await log.create(mine)
    const codes = await Promise.all(['a', 'b', 'c'].map((run) => rejection(log.acquire('s', run, 'me', 100))))
    expect(codes.filter((code) => code === 'resolved').length).toBe(1)
    expect(codes.filter((code) => code === 'busy').length).toBe(2)
  })
  check('two starts of one run before either has written: one writer (SPEC 2.7)', async (log, clock) => {
    await log.create(mine)
    const withFirst = { withFirst: true }
    const lease = await log.acquire('s', 'r', 'me', 100, withFirst)
    expect(await rejection(log.acquire('s', 'r', 'me', 100, withFirst))).toBe('busy')
    expect(await rejection(log.acquire('s', 'r', 'you', 100, withFirst))).toBe('busy')
    await log.append('s', drafts('r', started), lease)
    expect(await rejection(log.acquire('s', 'r', 'me', 100, withFirst))).toBe('busy')
    // One that never writes is in nobody's way once its time is over.
    await log.create({ ...mine, id: 't' })
    const late = await log.acquire('t', 'r', 'me', 100, withFirst)
    clock.pass(100)
    const next = await log.acquire('t', 'r', 'you', 100, withFirst)
    await log.append('t', drafts('r', started), next)
    expect(await rejection(log.append('t', drafts('r', note('late')), late))).toBe('lease-lost')
  })
  check('a start that was given up before it has written does not keep its run busy', async (log) => {
    await log.create(mine)
    const withFirst = { withFirst: true }
    const lost = await log.acquire('s', 'r', 'me', 100, withFirst)
    await log.release(lost)
    expect(await rejection(log.append('s', drafts('r', started), lost))).toBe('lease-lost')
    const lease = await log.acquire('s', 'r', 'me', 100, withFirst)
    await log.append('s', drafts('r', started), lease)
    expect(await log.heldBy('me')).toMatchObject([{ run: 'r', epoch: lease.epoch }])
  })
  check('one session’s lease is no other’s business', async (log) => {
    await log.create(mine)
    await log.create({ ...mine, id: 't' })
    await log.acquire('s', 'r', 'me', 100)
    await log.acquire('t', 'r', 'me', 100)
  })
  check('renew keeps the epoch and moves the end', async (log, clock) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 100)
    clock.pass(90)
    const renewed = await log.renew(lease, 100)
    expect(renewed).toEqual({ ...lease, until: clock.now() + 100 })
    clock.pass(90)
    expect(await rejection(log.acquire('s', 'x', 'me', 1))).toBe('busy')
    expect(seqs(await log.append('s', drafts('r', note('still mine')), renewed))).toEqual([1])
    expect(await log.expired()).toEqual([])
  })
  check('release frees the session, once, and only by its holder', async (log) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 100)
    await log.release({ ...lease, epoch: lease.epoch - 1 })
    expect(await rejection(log.acquire('s', 'x', 'me', 1))).toBe('busy')
    await log.release(lease)
    await log.release(lease)
    expect(await rejection(log.renew(lease, 100))).toBe('lease-lost')
    expect(await rejection(log.append('s', drafts('r', note('late')), lease))).toBe('lease-lost')
    const next = await log.acquire('s', 'x', 'me', 100)
    await log.release(lease)
    expect((await log.renew(next, 100)).epoch).toBe(next.epoch)
    await log.release({ ...lease, session: 'nobody' })
  })
}

function fencing({ check, expect }: Kit): void {
  check('SPEC 2.7: a lease writes its own run and nothing else', async (log) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 100)
    expect(seqs(await log.append('s', drafts('r', started, note('a')), lease))).toEqual([1, 2])
    expect(await rejection(log.append('s', drafts('other', note('b')), lease))).toBe('lease-lost')
    expect(await rejection(log.append('s', [...drafts('r', note('c')), ...notes(1)], lease))).toBe('lease-lost')
    expect(await rejection(log.append('s', drafts('r', note('d'))))).toBe('lease-lost')
    expect(await rejection(log.append('s', [], { run: 'r', epoch: lease.epoch + 1 }))).toBe('lease-lost')
    expect(seqs(await log.append('s', notes(1)))).toEqual([3]) // a person may edit meanwhile
  })
  check('SPEC 2.7: after a take-over the former holder is a zombie', async (log) => {
    await log.create(mine)
    const zombie = await log.acquire('s', 'r', 'me', 100)
    await log.append('s', drafts('r', started), zombie)
    const heir = await log.takeOver(zombie, 'you', 100)
    expect(heir).toMatchObject({ session: 's', run: 'r', owner: 'you' })
    expect(heir.epoch).toBeGreaterThan(zombie.epoch)
    expect(await rejection(log.append('s', drafts('r', note('brains')), zombie))).toBe('lease-lost')
    expect(await rejection(log.renew(zombie, 100))).toBe('lease-lost')
    await log.release(zombie)
    expect(seqs(await log.append('s', drafts('r', finished('failed')), heir))).toEqual([2])
  })
  check('SPEC 2.7: a writer that slept through its lease cannot write beside the next run', async (log, clock) => {
    await log.create(mine)
    const slept = await log.acquire('s', 'old', 'me', 100)
    await log.append('s', drafts('old', started), slept)
    clock.pass(100)
    expect(seqs(await log.append('s', drafts('old', note('in time: no one took over')), slept))).toEqual([2])
    const next = await log.acquire('s', 'new', 'you', 100)
    expect(await rejection(log.append('s', drafts('old', note('too late')), slept))).toBe('lease-lost')
    expect(seqs(await log.append('s', drafts('new', started), next))).toEqual([3])
  })
  check('an append and a take-over at once: whoever comes second loses, nothing is half done', async (log) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 100)
    const [before, heir, after] = await Promise.all([
      rejection(log.append('s', drafts('r', note('1'), note('2')), lease)),
      log.takeOver(lease, 'you', 100),
      rejection(log.append('s', drafts('r', note('3'), note('4')), lease)),
    ])
    expect([before, after]).toEqual(['resolved', 'lease-lost'])
    expect(seqs(await log.append('s', drafts('r', note('5')), heir))).toEqual([3])
  })
}

function recovering({ check, expect }: Kit): void {
  check('expired names the runs whose writer is dead', async (log, clock) => {
    for (const id of ['s', 't', 'u']) await log.create({ ...mine, id })
    const dead = await log.acquire('s', 'r', 'me', 50)
    await log.acquire('t', 'r', 'me', 500)
    await log.release(await log.acquire('u', 'r', 'me', 50))
    clock.pass(50)
    expect(await log.expired()).toEqual([dead])
    expect((await log.expired('me')).map(({ session }) => session).sort()).toEqual(['s', 't'])
    await log.release(await log.takeOver(dead, 'you', 100))
    expect(await log.expired()).toEqual([])
  })
  check(
    'SPEC 4.1: a dead run is still reported after another run has begun, and can be ended beside it',
    async (log, clock) => {
      await log.create(mine)
      const dead = await log.acquire('s', 'old', 'me', 50)
      await log.append('s', drafts('old', started), dead)
      clock.pass(50)
      const next = await log.acquire('s', 'new', 'you', 500)
      await log.append('s', drafts('new', started), next)
      const [lost, ...more] = await log.expired()
      expect(more).toEqual([])
      expect(lost).toMatchObject({ session: 's', run: 'old', owner: 'me' })
      if (lost === undefined) return
      const heir = await log.takeOver(lost, 'you', 100)
      await log.append('s', drafts('old', finished('failed')), heir)
      await log.release(heir)
      expect(await log.expired()).toEqual([])
      expect(await log.get('s')).toMatchObject({ status: 'running', lastRun: 'new' })
      await log.append('s', drafts('new', finished('done')), next)
      expect(await log.get('s')).toMatchObject({ status: 'done' })
    },
  )
  check('an open run that no lease covers is reported too', async (log) => {
    await log.restore(mine, [{ seq: 4, at: 1, run: 'r', event: started }])
    const [lost] = await log.expired()
    expect(lost).toMatchObject({ session: 's', run: 'r', owner: '', until: 0 })
    if (lost === undefined) return
    const heir = await log.takeOver(lost, 'me', 100)
    expect(seqs(await log.append('s', drafts('r', finished('failed')), heir))).toEqual([5])
    await log.release(heir)
    expect(await log.expired()).toEqual([])
  })
  check('heldBy names the leases under a name, and how many sessions of their users have one', async (log, clock) => {
    for (const id of ['s', 't', 'u', 'v']) await log.create({ ...mine, id })
    await log.create({ ...mine, id: 'w', user: 'other' })
    const late = await log.acquire('s', 'r', 'queue', 500)
    await log.acquire('t', 'r', 'me', 500)
    clock.pass(1)
    const early = await log.acquire('w', 'r', 'queue', 400)
    await log.release(await log.acquire('v', 'r', 'queue', 500))
    const found = [
      { ...early, user: 'other', leased: 1 },
      { ...late, user: mine.user, leased: 2 },
    ]
    expect(await log.heldBy('queue')).toEqual(found)
    clock.pass(500)
    expect(await log.heldBy('queue')).toEqual(found)
    expect(await log.heldBy('nobody')).toEqual([])
    await log.takeOver(late, 'me', 100)
    expect(await log.heldBy('queue')).toEqual([found[0]])
  })
  check('of two that take over by epoch, one wins', async (log, clock) => {
    await log.create(mine)
    await log.acquire('s', 'r', 'dead', 10)
    clock.pass(10)
    const [lost] = await log.expired()
    if (lost === undefined) return expect(lost).toMatchObject({ run: 'r' })
    const codes = await Promise.all(['a', 'b'].map((owner) => rejection(log.takeOver(lost, owner, 100))))
    expect(codes).toEqual(['resolved', 'lease-lost'])
    expect(await rejection(log.takeOver({ session: 'nobody', run: 'r' }, 'me', 1))).toBe('not-found')
    await log.takeOver({ session: 's', run: 'r' }, 'forced', 100)
  })
}
