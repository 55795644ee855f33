import { readdirSync, readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/**
 * SPEC.md and the tests hold each other: every number that code or a test cites exists, and every number of SPEC.md is
 * in the title of at least one test. `SPEC 2.4`, `SPEC 2.9, 5.3` and `SPEC 3.1 and 3.3` are citations; `SPEC 5` cites a
 * whole section and needs only that the section exists.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const numbers = readFileSync(`${root}SPEC.md`, 'utf8')
  .split('\n')
  .flatMap((line) => /^(\d+\.\d+) /.exec(line)?.[1] ?? [])
const sections = new Set(numbers.map((number) => number.split('.')[0]))

const sources = ['packages', 'agents', 'test', 'bench', 'examples', 'scripts', 'docs'].flatMap((folder) =>
  walk(`${root}${folder}`),
)
const files = [...sources, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md']
  .map((file) => (file.startsWith(root) ? file : root + file))
  .filter((file) => /\.(tsx?|mjs|md)$/.test(file) && !file.endsWith('spec-numbers.test.ts'))
const citations = files.flatMap(citationsIn)

describe('SPEC.md', () => {
  test('has numbers, without gaps and without repeats', () => {
    expect(numbers.length).toBeGreaterThan(30)
    const counts = new Map<string, number>()
    for (const number of numbers) {
      const [section = '', place] = number.split('.')
      const next = (counts.get(section) ?? 0) + 1
      expect(Number(place), number).toBe(next)
      counts.set(section, next)
    }
  })

  test('has every number that is cited', () => {
    expect(citations.length).toBeGreaterThan(100)
    const unknown = citations.filter(({ number }) => !numbers.includes(number) && !sections.has(number))
    expect(unknown.map(({ place, number }) => `${place} cites SPEC ${number}`)).toEqual([])
  })

  test.each(numbers)('%s is in the title of a test', (number) => {
    const titles = citations.filter((citation) => citation.number === number && citation.inTitle)
    expect(titles.map(({ place }) => place)).not.toEqual([])
  })
})

interface Citation {
  readonly number: string
  /** `packages/core/src/event/guard.ts:12` */
  readonly place: string
  /** It is part of a string in a test or in a suite that tests run; a comment shows nothing. */
  readonly inTitle: boolean
}

function citationsIn(file: string): readonly Citation[] {
  const isTest = /\.test\.tsx?$/.test(file) || /\/(test\/kit|core\/src\/testing)\//.test(file)
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/\bSPEC (\d+(?:\.\d+)?(?:(?:, | and )\d+\.\d+)*)/g)].flatMap((match) => {
        const before = line.slice(0, match.index)
        const inTitle = isTest && /['"`]/.test(before) && !/^\s*(\/\/|\/?\*)/.test(line)
        const place = `${relative(root, file)}:${index + 1}`
        return (match[1] ?? '').split(/, | and /).map((number) => ({ number, place, inTitle }))
      }),
    )
}

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name === 'node_modules' || name === 'dist') return []
    const path = `${folder}/${name}`
    return statSync(path).isDirectory() ? walk(path) : [path]
  })
}
