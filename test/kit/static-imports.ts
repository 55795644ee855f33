import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface StaticImport {
  readonly file: string
  readonly target: string
}

/** Every import that loads with a source file: its own, and those of the files that it imports. Types load nothing. */
export function staticImports(file: string, seen = new Set<string>()): readonly StaticImport[] {
  if (seen.has(file)) return []
  seen.add(file)
  return targetsOf(file).flatMap((target) => [
    { file, target },
    ...(target.startsWith('.') ? staticImports(resolve(dirname(file), target), seen) : []),
  ])
}

/** Static imports and re-exports; `import()` is what lazy means. */
function targetsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/^(?:import|export)\s([^;]*?)from\s+'([^']+)'|^import\s+'([^']+)'/gm)
  return [...found]
    .filter(([, what]) => what?.startsWith('type ') !== true)
    .map(([, , from, bare]) => from ?? bare ?? '')
}
