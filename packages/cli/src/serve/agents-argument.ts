import { parseArgs } from 'node:util'
import { serveOptions } from './settings.ts'

const all = { ...serveOptions, watch: { type: 'boolean' }, 'print-config': { type: 'boolean' } } as const

/** `serve my-agents` is `serve --agents my-agents`. Anything more is left for the sentence about an unexpected argument. */
export function namedAgents(args: readonly string[]): readonly string[] {
  const { tokens } = parseArgs({ args: [...args], options: all, strict: false, tokens: true, allowPositionals: true })
  const [first, ...more] = tokens.filter((token) => token.kind === 'positional')
  const isNamed = tokens.some((token) => token.kind === 'option' && token.name === 'agents')
  if (first === undefined || more.length > 0 || isNamed) return args
  return [...args.filter((_, i) => i !== first.index), '--agents', first.value]
}
