import { mkdtempSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceError } from '@millrace/core'
import { afterAll, expect, test } from 'vitest'
import { spareRoom, withSpareRoom } from './spare-room.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-spare-'))
afterAll(() => rmSync(folder, { recursive: true }))
const full = (): MillraceError => new MillraceError('store-failed', 'cannot write', { reason: 'full' })

test('deleting on a full disk is done with the spare room, once', async () => {
  const spare = spareRoom(folder, 5_000)
  await spare.take()
  expect((await stat(join(folder, 'millrace.spare'))).size).toBe(5_000)
  let room = false
  const release = async (): Promise<boolean> => {
    room = await spare.release()
    return room
  }
  const remove = async (): Promise<string> => {
    if (!room) throw full()
    return 'removed'
  }
  expect(await withSpareRoom({ release }, remove)).toBe('removed')
  await expect(stat(join(folder, 'millrace.spare'))).rejects.toThrow('ENOENT')
  await expect(withSpareRoom(spare, () => Promise.reject(full()))).rejects.toMatchObject({ facts: { reason: 'full' } })
})

test('it is taken only where the disk has plenty, and other errors leave it', async () => {
  const spare = spareRoom(folder, 2 ** 52)
  await spare.take()
  expect(await spare.release()).toBe(false)
  const small = spareRoom(folder, 100)
  await small.take()
  await expect(withSpareRoom(small, () => Promise.reject(new MillraceError('busy', 'x')))).rejects.toThrow('x')
  expect(await small.release()).toBe(true)
})
