import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/dev.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'millrace-dev-'))
const agents = join(folder, 'agents')
let dev: ChildProcess
let output = ''
let at: string

beforeAll(async () => {
  addAgent('first')
  const args = [script, '--port', '0', '--agents', agents, '--data-dir', join(folder, 'data')]
  dev = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  dev.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  ;[, at = ''] = await printed(/is on (http:\S+)/)
})
afterAll(async () => {
  const ended = once(dev, 'exit')
  dev.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  rmSync(folder, { recursive: true, force: true })
})

test('`npm run dev` serves the page with hot reload and the server behind one port', async () => {
  const page = await (await fetch(`${at}/s/some-session`)).text()
  expect(page).toContain('/@vite/client')
  const module = await fetch(`${at}/src/main.tsx`)
  expect(module.headers.get('content-type')).toMatch(/javascript/)
  expect(await module.text()).toContain('/src/app/start.tsx')
  expect(await (await fetch(`${at}/health`)).json()).toMatchObject({ status: 'ok' })
  expect(await names()).toEqual(['first'])
})

test('an agent that is added or removed is served after the restart', async () => {
  addAgent('second')
  await printed(/second.*changed: the server restarts/)
  expect(await names()).toEqual(['first', 'second'])
  rmSync(join(agents, 'first'), { recursive: true })
  await printed(/first.*changed: the server restarts/)
  expect(await names()).toEqual(['second'])
})

function addAgent(name: string): void {
  mkdirSync(join(agents, name), { recursive: true })
  writeFileSync(join(agents, name, 'agent.ts'), `export const rootAgent = { name: '${name}' }\n`)
}

async function names(): Promise<unknown> {
  return (await fetch(`${at}/list-apps`)).json()
}

/** Resolves when the output so far, or that to come, has the text. */
async function printed(text: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = text.exec(output)
    if (found !== null) return found
    if (dev.exitCode !== null) throw new Error(`npm run dev ended before it printed ${text}: ${output}`)
    await Promise.race([once(dev.stdout as NonNullable<typeof dev.stdout>, 'data'), once(dev, 'exit')])
  }
}
