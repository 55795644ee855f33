import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { serveCommand } from '../kit/built-server.ts'
import { envOf, type Stage, stagesIn } from '../kit/dockerfile.ts'
import { full } from '../kit/full.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'millrace-image-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const stages = stagesIn(readFileSync(`${root}Dockerfile`, 'utf8'))
const stage = (name: string): Stage => stages.find((each) => each.name === name) ?? { name, image: '', steps: [] }

/** A folder of a stage here. The stage `build` is this tree, which is built already. */
const placeOf = (name: string, path: string): string =>
  name === 'build' ? join(root, path.replace(/^\/src/, '')) : join(scratch, name, path.replace(/^\/app/, ''))

/** Runs the COPY steps of a stage, and the RUN steps where they are wanted. */
function runStage({ name, steps }: Stage, withRun: boolean): void {
  mkdirSync(placeOf(name, ''), { recursive: true })
  for (const { name: what, rest, options } of steps) {
    const parts = rest.split(/\s+/)
    const target = parts.pop() ?? ''
    if (what === 'COPY')
      for (const source of parts) {
        const from = options.from === undefined ? join(root, source) : placeOf(options.from, source)
        const to = placeOf(name, target.endsWith('/') ? join(target, source) : target)
        mkdirSync(dirname(to), { recursive: true })
        cpSync(from, to, { recursive: true, verbatimSymlinks: true })
      }
    if (what !== 'RUN' || !withRun) continue
    const { status, stderr } = spawnSync('sh', ['-c', rest], { cwd: placeOf(name, ''), encoding: 'utf8' })
    expect(status, `${rest}\n${stderr}`).toBe(0)
  }
}

/** What `npm install` of the stage makes, from the packages that this tree has: only the links to our own are new. */
function lendModules(): void {
  const to = placeOf('modules', 'node_modules')
  mkdirSync(join(to, '@millrace'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@millrace' && name !== 'millrace') symlinkSync(join(root, 'node_modules', name), join(to, name))
  for (const name of ['core', 'server']) symlinkSync(`../../packages/${name}`, join(to, '@millrace', name))
  for (const name of ['server', 'cli']) {
    const own = join(root, 'packages', name, 'node_modules')
    if (existsSync(own)) symlinkSync(own, placeOf('modules', `packages/${name}/node_modules`))
  }
}

test('what the Dockerfile copies into the image starts, answers its health check, and stops on SIGTERM', async () => {
  runStage(stage('modules'), full)
  if (!full) lendModules()
  const image = stage('')
  runStage(image, false)
  const listOf = (name: string) => image.steps.find((step) => step.name === name)?.list ?? []
  const [command = '', ...args] = [...listOf('ENTRYPOINT'), ...listOf('CMD')]
  const here = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(scratch, 'data') }
  const cwd = placeOf('', '')
  const server = await serveCommand(command, args, { cwd, env: { ...envOf(image), ...here, LOG_LEVEL: 'silent' } })
  const isHealthy = async (): Promise<number> => {
    const [check = '', ...rest] = listOf('HEALTHCHECK')
    const child = spawn(check, rest, { env: { ...here, PORT: new URL(server.address).port }, stdio: 'inherit' })
    return Number((await once(child, 'exit'))[0])
  }
  expect(await isHealthy()).toBe(0)
  // The page and the example agents are in the image.
  expect((await fetch(server.address)).headers.get('content-type')).toContain('text/html')
  const agents = (await (await fetch(`${server.address}/list-apps`)).json()) as readonly string[]
  expect(agents).toContain('assistant')
  const gone = once(server.child, 'exit')
  server.child.kill('SIGTERM')
  expect(await gone).toEqual([0, null])
  expect(await isHealthy()).toBe(1)
})
