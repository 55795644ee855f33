/**
 * Packages that only some agents need, with the versions that fit. They are not installed with the server. Written out
 * here and not read from package.json, which is not beside this file once a program that embeds the server is bundled.
 */
export const optionalPackages: Readonly<Record<string, string>> = {
  '@anthropic-ai/sdk': '^1.8.0',
  '@google/adk': '~2.0.0',
  '@langchain/core': '^1.2.13',
  '@langchain/langgraph': '^1.4.18',
  '@modelcontextprotocol/sdk': '^1.32.2',
  openai: '^6.49.0',
}

/** `@google/adk/x` → `@google/adk`, `zod/v4` → `zod`. */
export function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}

/** What to do about an error of Node or jiti, when it says that one of these packages is not installed. */
export function missingPackage(message: string): string | undefined {
  const [, name = ''] = /^Cannot find (?:package|module) '([^']+)'/.exec(message) ?? []
  const wanted = packageOf(name)
  const versions = optionalPackages[wanted]
  if (versions === undefined) return undefined
  return `${wanted} is not installed, and this agent needs it. Run: npm install "${wanted}@${versions}"`
}
