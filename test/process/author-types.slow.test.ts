import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Author, author } from '../kit/author-server.ts'
import { built } from '../kit/built-server.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'

/** The recipe and the agents of docs/agents.md, in a folder outside the repository. */
const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/agents.md'), 'utf8')
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))].map(([, text = '']) => text)
let mine: Author

beforeAll(async () => {
  await built()
  mine = author()
  for (const text of blocks('ts')) mine.write(`agents/${/^\/\/ (\S+)/.exec(text)?.[1]}`, text)
  const [manifest = '', settings = ''] = blocks('json')
  mine.write('agents/package.json', manifest)
  mine.write('agents/tsconfig.json', settings)
  symlinkSync(join(root, 'node_modules'), join(mine.folder, 'agents/node_modules'))
})
afterAll(() => mine.close())

const compile = (): Promise<unknown> =>
  promisify(execFile)(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(mine.folder, 'agents'),
  ])

test('the agents of the page compile by its recipe, and a wrong type is an error', async () => {
  await compile()
  mine.write('agents/greeter/greeting.ts', 'export const greeting = (name: number): number => name')
  await expect(compile()).rejects.toMatchObject({ stdout: expect.stringContaining('greeter/agent.ts') })
  mine.write('agents/greeter/greeting.ts', "export const greeting = (name: string): string => 'Hello, ' + name")
})

test('the same folder runs', async () => {
  const server = mine.serve([], { MILLRACE_MODEL: 'offline' })
  expect(await loadedAgents(await server.address)).toMatchObject([
    { name: 'greeter', engine: 'langgraph' },
    { name: 'weather', engine: 'adk', tools: ['forecast'] },
  ])
  expect(await server.run('greeter', 'Ada', 's')).toContain('Hello, Ada')
})
