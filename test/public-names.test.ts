import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * The names that others build on. A name that is added or removed shows in a diff of test/public-names.json.
 * `MILLRACE_RECORD=1` rewrites it.
 */
const file = new URL('./public-names.json', import.meta.url)
const packages = {
  '@millrace/core': { index: '../packages/core/src/index.ts', load: () => import('@millrace/core') },
  '@millrace/react': { index: '../packages/react/src/index.ts', load: () => import('@millrace/react') },
} as const

test.each(Object.entries(packages))(
  'the public names of %s are those that were agreed on',
  async (name, { index, load }) => {
    const values = Object.keys(await load()).toSorted()
    const exported = namesIn(new URL(index, import.meta.url))
    const types = exported.filter((each) => !values.includes(each)).toSorted()
    // Each value is named in the index: this proves that `namesIn` reads it.
    expect(exported).toEqual(expect.arrayContaining(values))
    const agreed = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    if (process.env.MILLRACE_RECORD === '1') {
      agreed[name] = { values, types }
      writeFileSync(file, `${JSON.stringify(agreed, null, 2)}\n`)
    }
    expect({ values, types }).toEqual(agreed[name])
  },
)

/** What a module exports, types too, as its text says it; `export type *` is followed. */
function namesIn(module: URL): string[] {
  const text = readFileSync(module, 'utf8')
  const lists = [...text.matchAll(/export (?:type )?\{([^}]*)\} from/g)].flatMap(([, list = '']) => list.split(','))
  const listed = lists.flatMap((each) => /(\w+)\s*$/.exec(each)?.[1] ?? [])
  const declared = [...text.matchAll(/^export (?:declare )?(?:interface|type|const|class|function) (\w+)/gm)].flatMap(
    ([, name]) => name ?? [],
  )
  const starred = [...text.matchAll(/export type \* from '([^']+)'/g)].flatMap(([, path = '']) =>
    namesIn(new URL(path, module)),
  )
  return [...new Set([...listed, ...declared, ...starred])]
}
