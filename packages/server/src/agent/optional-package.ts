import { createRequire } from 'node:module'

/** Packages that only some agents need, with the versions that fit. They are not installed with the server. */
const { peerDependencies: optional } = createRequire(import.meta.url)('../../package.json') as {
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** `@google/adk/x` → `@google/adk`, `zod/v4` → `zod`. */
export function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}

/** What to do about an error of Node or jiti, when it says that one of these packages is not installed. */
export function missingPackage(message: string): string | undefined {
  const [, name = ''] = /^Cannot find (?:package|module) '([^']+)'/.exec(message) ?? []
  const wanted = packageOf(name)
  const versions = optional[wanted]
  if (versions === undefined) return undefined
  return `${wanted} is not installed, and this agent needs it. Run: npm install "${wanted}@${versions}"`
}
