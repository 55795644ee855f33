import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Loading one of these takes between 30 ms and 2 s, but a start must answer on its port within one second. */
const heavy = /^(@google\/adk|@langchain\/|@opentelemetry\/|@ag-ui\/|@anthropic-ai\/|openai|jiti)/

test('importing the server loads no agent library and no other slow module that a start does not need', () => {
  const seen = new Map<string, string>()
  const found: string[] = []
  const walk = (file: string, from: string): void => {
    if (seen.has(file)) return
    seen.set(file, from)
    for (const { target, types } of importsOf(file)) {
      if (types) continue
      if (target.startsWith('.')) walk(resolve(dirname(file), target), file)
      else if (heavy.test(target)) found.push(`${file} imports ${target}`)
    }
  }
  walk(fileURLToPath(new URL('./index.ts', import.meta.url)), '')
  expect(found).toEqual([])
  expect(seen.size).toBeGreaterThan(20)
})

/** Static imports and re-exports; `import()` is what lazy means. */
function importsOf(file: string): readonly { readonly target: string; readonly types: boolean }[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export)\s([^;]*?)from\s+'([^']+)'|^import\s+'([^']+)'/gm)].map((match) => ({
    target: match[2] ?? match[3] ?? '',
    types: match[1]?.startsWith('type ') === true,
  }))
}
