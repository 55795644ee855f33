import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { MillraceError } from '@millrace/core'

const inPackage = join('node_modules', '@google', 'adk-devtools', 'dist', 'browser')

/**
 * The folder of adk-web's page in the package `@google/adk-devtools`, looked for as Node looks for packages, from each of
 * these folders up. The package's exports do not name its page, so it cannot be resolved by `import`.
 */
export function findAdkWeb(...from: readonly string[]): string {
  for (const start of from) {
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const page = join(folder, inPackage)
      if (existsSync(join(page, 'index.html'))) return page
      if (folder === dirname(folder)) break
    }
  }
  throw new MillraceError(
    'invalid',
    `--adk-web needs the package @google/adk-devtools, which is not installed: run \`npm install --save-dev @google/adk-devtools\` in ${from[0]}`,
  )
}
