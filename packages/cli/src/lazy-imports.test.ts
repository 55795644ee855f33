import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { staticImports } from '../../../test/kit/static-imports.ts'

/** Loading the server takes a second, for which a command that asks a running one must not wait. */
test.each(['main', 'run/run', 'sessions/sessions', 'sessions/search', 'tail/tail', 'tap/tap', 'convert/convert'])(
  '%s loads no server',
  (name) => {
    const imports = staticImports(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)))
    expect(imports.filter(({ target }) => target.startsWith('@millrace/server'))).toEqual([])
    expect(imports.length).toBeGreaterThan(3)
  },
)
