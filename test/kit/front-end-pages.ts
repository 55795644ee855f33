import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin, type PreviewServer, preview } from 'vite'
import { type Served, serveCommand } from './built-server.ts'

// The pages of examples/ that use a chat library of others: built by Vite, served as `vite preview` serves them.

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))

export type FrontEndName = 'copilotkit' | 'assistant-ui' | 'tanstack-ai'

const exampleOf = (name: FrontEndName): string => path(`examples/${name}`)
const installedFor = (name: FrontEndName): string => path(`test/foreign/${name}`)

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}
const manifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8'))

/** What the example asks for, and what the tests have installed for it. */
export function dependenciesOf(name: FrontEndName): readonly Manifest['dependencies'][] {
  return [exampleOf(name), installedFor(name)].map((folder) => manifest(`${folder}/package.json`).dependencies)
}

/** The installed version of a package of the page. */
export function versionOf(name: FrontEndName, dependency: string): string {
  return manifest(`${installedFor(name)}/node_modules/${dependency}/package.json`).version
}

/** What the compiler says about the page, with the packages of the tests beside it. */
export function typeErrorsOf(name: FrontEndName): Promise<string> {
  const folder = path(`.cache/front-end-types/${name}`)
  rmSync(folder, { recursive: true, force: true })
  cpSync(`${exampleOf(name)}/src`, `${folder}/src`, { recursive: true })
  copyFileSync(`${exampleOf(name)}/tsconfig.json`, `${folder}/tsconfig.json`)
  symlinkSync(`${installedFor(name)}/node_modules`, `${folder}/node_modules`)
  return new Promise((resolve) => {
    execFile(path('node_modules/.bin/tsc'), ['-p', folder], (error, output) => resolve(error === null ? '' : output))
  })
}

/** Builds the page if it has changed since it was built last. Returns the folder that it was built into. */
async function builtPage(name: FrontEndName): Promise<string> {
  const example = exampleOf(name)
  const installed = installedFor(name)
  if (!existsSync(`${installed}/node_modules`))
    throw new Error(`${name} is not installed: run node scripts/foreign.mjs`)
  const outDir = path(`.cache/front-ends/${name}`)
  const sources = readdirSync(`${example}/src`).map((file) => `${example}/src/${file}`)
  const hash = createHash('sha256')
  for (const file of [
    ...sources,
    `${example}/index.html`,
    `${example}/vite.config.ts`,
    `${installed}/package-lock.json`,
  ])
    hash.update(file).update(readFileSync(file))
  const wanted = hash.digest('hex')
  const stamp = `${outDir}/built`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return outDir
  await build({
    configFile: `${example}/vite.config.ts`,
    logLevel: 'error',
    mode: 'production',
    plugins: [importsFrom(installed, example)],
    build: { outDir, emptyOutDir: true, minify: false, reportCompressedSize: false, chunkSizeWarningLimit: 100_000 },
  })
  writeFileSync(stamp, wanted)
  return outDir
}

/** Packages that a page would load for a diagram or in development. They are large, and not installed. */
const leftOut = new Set(['mermaid', '@copilotkit/web-inspector'])
const nothing = '\0nothing'

/** The packages of an example are installed in a folder of the tests, so that the example's own folder stays as it is. */
function importsFrom(installed: string, example: string): Plugin {
  return {
    name: 'millrace:installed-for-tests',
    enforce: 'pre',
    load: (id) => (id === nothing ? 'export default undefined' : undefined),
    resolveId(name, importer) {
      if (leftOut.has(name)) return nothing
      const isBare = /^[@a-z]/.test(name) && !name.startsWith('vite/')
      if (!isBare || importer?.startsWith(`${example}/src/`) !== true) return undefined
      return this.resolve(name, `${installed}/package.json`, { skipSelf: true })
    },
  }
}

export interface ServedPage {
  readonly address: string
  close(): Promise<void>
}

/** A page on a server of its own, which forwards what the page asks of Millrace. */
export async function servePage(name: FrontEndName, millrace: string): Promise<ServedPage> {
  const outDir = await builtPage(name)
  const runtime = name === 'copilotkit' ? await copilotRuntime(millrace) : undefined
  process.env.MILLRACE = millrace
  process.env.RUNTIME = runtime?.address ?? ''
  const server: PreviewServer = await preview({
    configFile: `${exampleOf(name)}/vite.config.ts`,
    logLevel: 'error',
    build: { outDir },
    preview: { host: '127.0.0.1', port: 0 },
  })
  const [address = ''] = server.resolvedUrls?.local ?? []
  return {
    address,
    async close() {
      await server.close()
      await runtime?.kill()
    },
  }
}

/** The example's own server, beside the packages that it needs. */
async function copilotRuntime(millrace: string): Promise<Served> {
  const folder = `${installedFor('copilotkit')}/node_modules/.millrace`
  mkdirSync(folder, { recursive: true })
  for (const file of ['server.mjs', 'millrace-runner.mjs'])
    copyFileSync(join(exampleOf('copilotkit'), file), join(folder, file))
  const env = { MILLRACE: millrace, PORT: '0', COPILOTKIT_TELEMETRY_DISABLED: 'true', PATH: process.env.PATH ?? '' }
  return serveCommand(process.execPath, [`${folder}/server.mjs`], { cwd: folder, env })
}
