import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wireText } from '@millrace/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { loadVectors } from '../kit/vectors.ts'

/** Every line of every block of docs/cli.md is run by a shell, in a folder with the files that it names. */
const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
const lines = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.trimEnd().split('\n'))

/** Exit codes that are no failure of the example. */
const codes: Readonly<Record<string, number>> = {
  'millrace diff run.sse other.sse': 1,
  'millrace diff run.sse other.sse --json': 1,
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'))
let served: Served
beforeAll(async () => {
  served = await serveBuilt(['--port', '0', '--data-dir', join(folder, 'data'), ...oneProcess], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
  })
  const stream = (name: string): string => wireText(loadVectors('adk').find((each) => each.name === name)?.wire ?? [])
  const files = {
    'run.sse': stream('transfer'),
    'other.sse': stream('loop'),
    'body.json': JSON.stringify({
      threadId: 't',
      runId: 'r',
      messages: [{ id: 'm', role: 'user', content: 'hi' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
    millrace: `#!/bin/sh\nexec '${process.execPath}' '${packedMain}' "$@"\n`,
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  chmodSync(join(folder, 'millrace'), 0o755)
  const answer = await fetch(`${served.address}/sessions/import?id=my-session`, {
    method: 'POST',
    headers: { 'content-type': 'text/event-stream' },
    body: files['run.sse'],
  })
  expect(answer.status).toBe(201)
})
afterAll(async () => {
  await served.kill()
  rmSync(folder, { recursive: true, force: true })
})

test('every command has one section', () => {
  const sources = new URL('../../packages/cli/src/', import.meta.url)
  const commands = readdirSync(sources).filter((name) => existsSync(new URL(`${name}/command.ts`, sources)))
  expect([...text.matchAll(/^## (.+)$/gm)].map(([, name]) => name).sort()).toEqual(commands.sort())
})

test('there are examples', () => expect(lines.length).toBeGreaterThan(15))

test.each(lines)('%s', async (line) => {
  const command = line.replaceAll('http://127.0.0.1:8000', served.address)
  const serves = /^millrace (replay|tap) /.test(line)
  const env = { PATH: `${folder}:${process.env.PATH ?? ''}`, MILLRACE_SERVER: served.address }
  // A command that serves takes the place of the shell, so that the signal reaches it.
  const child = spawn('sh', ['-c', serves ? `exec ${command}` : command], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  let out = ''
  let err = ''
  let stopped = !serves
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
    if (stopped || !out.includes('listening on')) return
    stopped = true
    child.kill('SIGINT')
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  const [code] = await closed
  expect({ code, err }).toEqual({ code: codes[line] ?? 0, err: '' })
  expect(out).not.toBe('')
})
