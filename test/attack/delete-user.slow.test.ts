import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { type Served, serveBuilt } from '../kit/built-server.ts'

/** "Delete everything of a user" as one command, on a running server and on a stopped one. */
const folder = mkdtempSync(join(tmpdir(), 'millrace-delete-'))
const data = join(folder, 'data')
const served = new Set<Served>()
afterAll(async () => {
  for (const each of served) await each.kill()
  rmSync(folder, { recursive: true, force: true })
})

function millrace(args: readonly string[], env: Record<string, string> = {}) {
  return new Promise<{ readonly code: number; readonly said: string }>((resolve) => {
    const child = execFile(process.execPath, [packedMain, ...args], { cwd: folder, env }, (_error, out, problem) =>
      resolve({ code: child.exitCode ?? -1, said: `${out}${problem}` }),
    )
  })
}

async function serve(): Promise<Served> {
  const users = ['ada', 'bob', 'ops'].flatMap((user) => ['--token', `${user}=a-token-of-${user}`])
  const one = await serveBuilt(['--port', '0', '--data-dir', data, '--operator', 'ops', ...users])
  served.add(one)
  return one
}

test('SPEC 6.7: a user is deleted by one command, and signed-in browsers survive a restart', async () => {
  const first = await serve()
  const ask = (at: string, user: string, path: string, method = 'GET') =>
    fetch(`${at}${path}`, { method, headers: { authorization: `Bearer a-token-of-${user}` } })
  for (const user of ['ada', 'bob', 'bob'])
    expect((await ask(first.address, user, '/sessions', 'POST')).status).toBe(201)
  const signedIn = await ask(first.address, 'ada', '/sign-in', 'POST')
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(statSync(join(data, 'ticket.key')).mode & 0o777).toBe(0o600)

  // The folder of a running server is not touched.
  const busy = await millrace(['delete-user', 'bob', '--data-dir', data])
  expect(busy).toMatchObject({ code: 1, said: expect.stringMatching(/^millrace: /) })
  const refused = await millrace(['delete-user', 'bob', '--server', first.address], {
    MILLRACE_TOKEN: 'a-token-of-ada',
  })
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('only operators') })
  const there = await millrace(['delete-user', 'bob', '--server', first.address], { MILLRACE_TOKEN: 'a-token-of-ops' })
  expect(there).toEqual({ code: 0, said: 'Deleted bob: 2 sessions\n' })
  expect(await (await ask(first.address, 'ops', '/operator/users')).json()).toMatchObject({
    users: [{ user: 'ada', sessions: 1 }],
    total: 1,
  })
  const stopped = once(first.child, 'exit')
  first.child.kill('SIGTERM')
  await stopped

  const second = await serve()
  const port = (address: string): string => new URL(address).port
  const kept = cookie.replace(`-${port(first.address)}=`, `-${port(second.address)}=`)
  expect((await fetch(`${second.address}/me`, { headers: { cookie: kept } })).status).toBe(200)
  const gone = once(second.child, 'exit')
  second.child.kill('SIGTERM')
  await gone
  served.clear()

  expect(await millrace(['delete-user', 'ada', '--data-dir', data])).toEqual({
    code: 0,
    said: 'Deleted ada: 1 session\n',
  })
})
