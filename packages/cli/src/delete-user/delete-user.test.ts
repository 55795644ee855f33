import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileEvalStore } from '@millrace/server'
import { afterAll, expect, test, vi } from 'vitest'
import { main } from '../main.ts'
import { openStore } from '../open-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-delete-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What the command prints, and its exit code. */
async function run(args: readonly string[], env = {}): Promise<{ readonly code: number; readonly said: string }> {
  const said: string[] = []
  const take = (text: unknown): boolean => said.push(String(text)) > 0
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(take))
  const code = await main(['delete-user', ...args], undefined, env)
  for (const spy of spies) spy.mockRestore()
  return { code, said: said.join('').trimEnd() }
}

test('a user is deleted from a stopped store, also with a run that a crash has left open', async () => {
  const data = join(folder, 'data')
  const place = { kind: 'sqlite', folder: data } as const
  const first = await openStore(place, Date.now)
  for (const [id, user] of [
    ['a', 'ada'],
    ['b', 'bob'],
    ['c', 'ada'],
  ] as const)
    await first.log.create({ id, user, agent: 'echo' })
  const lease = await first.log.acquire('a', 'r', first.owner, 60_000)
  const event = { kind: 'run.started', agent: 'echo', input: { messages: [] } } as const
  await first.log.append('a', [{ run: 'r', event }], lease)
  await first.log.close()
  const set = { evalSetId: 'set', evalCases: [], creationTimestamp: 1 }
  for (const user of ['ada', 'bob'])
    await fileEvalStore(join(data, 'evals')).change({ user, app: 'echo' }, 'set', () => set)

  expect(await run(['ada'], { DATA_DIR: data })).toEqual({ code: 0, said: 'Deleted ada: 2 sessions' })
  expect(await run(['ada', '--data-dir', data])).toEqual({ code: 0, said: 'Deleted ada: 0 sessions' })
  const { log } = await openStore(place, Date.now)
  expect((await log.users({})).users).toMatchObject([{ user: 'bob', sessions: 1 }])
  await log.close()
  expect(['@ada', '@bob'].map((name) => existsSync(join(data, 'evals', name)))).toEqual([false, true])
})

test.each<[readonly string[], number, string]>([
  [['ada', '--data-dir', join(folder, 'none')], 1, 'there is no database in'],
  [['ada', '--database', 'mysql://x'], 1, 'is not a store'],
  [['ada', '--server', 'http://127.0.0.1:9'], 1, 'cannot be reached'],
  [[], 2, "missing required argument 'user'"],
  [[''], 2, 'name the user to delete'],
  [['a', 'b'], 2, 'too many arguments'],
  [['a', '--everything'], 2, '--everything'],
  [['--help'], 0, 'Deletes everything of a user'],
])('%j ends with code %i', async (args, code, sentence) => {
  expect(await run(args)).toEqual({ code, said: expect.stringContaining(sentence) })
})
