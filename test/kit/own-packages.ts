import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../node_modules', import.meta.url))
const foreign = fileURLToPath(new URL('../foreign/langchain-models/node_modules', import.meta.url))

/** What an author has installed: copied, because classes of two copies are not the same. */
const copied = ['@langchain/core', '@langchain/langgraph', '@langchain/openai', '@langchain/anthropic', 'langchain']

/** Fills `<folder>/node_modules` as `npm install` of LangChain and its models would: none of it is the command's own copy. */
export function ownLangchain(folder: string): void {
  const modules = join(folder, 'node_modules')
  for (const name of copied) {
    const from = existsSync(join(foreign, name)) ? join(foreign, name) : join(root, name)
    cpSync(from, join(modules, name), { recursive: true, filter: (path) => !/\.(map|c?ts)$/.test(path) })
  }
  const others = [...packagesIn(foreign, foreign), ...packagesIn(root, root)]
  for (const [name, path] of others) {
    const link = join(modules, name)
    if (existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(path, link)
  }
}

/** What these packages need is linked: the packages of a folder, with those of its scopes. */
function packagesIn(folder: string, scope: string): readonly (readonly [string, string])[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && !name.includes('millrace'))
    .flatMap((name) => {
      const path = join(folder, name)
      return name.startsWith('@') ? packagesIn(path, scope) : [[path.slice(scope.length + 1), path] as const]
    })
}
