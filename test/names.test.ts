import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sourcesIn } from './kit/source-files.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Each `agent.ts` exports these: the contract by which the server finds an agent and what to show of it. */
const ofAgentFiles = new Set(['rootAgent', 'graph', 'title', 'description', 'examples'])

/** A declaration at the start of a line. Overloads of one file, and a value with the type of its name, are one definition. */
const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:interface|type|const|let|class|enum|function\*?) (\w+)/gm

test('an exported name is defined once, so that a search for it finds one thing', () => {
  const files = [`${root}packages`, `${root}agents`].flatMap(sourcesIn)
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declaration)) {
      places.set(name, (places.get(name) ?? new Set()).add(relative(root, file)))
    }
  }
  expect(places.size).toBeGreaterThan(1000)
  const twice = [...places].filter(([name, where]) => where.size > 1 && !isContract(name, where))
  expect(Object.fromEntries(twice.map(([name, where]) => [name, [...where].sort()]))).toEqual({})
})

function isContract(name: string, places: ReadonlySet<string>): boolean {
  return ofAgentFiles.has(name) && [...places].every((place) => /^agents\/[^/]+\/agent\.ts$/.test(place))
}
