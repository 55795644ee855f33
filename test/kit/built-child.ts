import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { packedImports } from '../../scripts/packed-imports.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A process of its own from `test/process/children/<name>.ts`, bundled once: a killed one is replaced in a tenth of a second. */
export async function buildChild(name: string): Promise<(...args: string[]) => ChildProcess> {
  const path = await bundleChild(name)
  return (...args) => fork(path, args, { execArgv: ['--expose-gc'], stdio: 'inherit', env: {} })
}

/** The same as a file; `run-child.mjs` runs the `main` of one that exports it. */
export async function bundleChild(name: string): Promise<string> {
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [packedImports()],
    ssr: { noExternal: [/^@millrace\//, 'zod'] },
    build: {
      ssr: `test/process/children/${name}.ts`,
      outDir: `.cache/child/${name}`,
      rolldownOptions: { output: { entryFileNames: 'child.mjs' } },
    },
  })
  return `${root}.cache/child/${name}/child.mjs`
}

/** The next message of a child that `is` recognises; rejects when the child ends without it. */
export function message<T>(child: ChildProcess, is: (message: unknown) => message is T): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      child.off('message', heard)
      child.off('exit', ended)
    }
    const heard = (sent: unknown): void => {
      if (!is(sent)) return
      done()
      resolve(sent)
    }
    const ended = (): void => {
      done()
      reject(new Error('the child ended'))
    }
    child.on('message', heard)
    child.on('exit', ended)
  })
}

/** Recognises a message by a field that it has. */
export const has =
  <T>(key: string) =>
  (sent: unknown): sent is T =>
    typeof sent === 'object' && sent !== null && key in sent
