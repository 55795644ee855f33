import { vi } from 'vitest'
import { main } from '../../packages/cli/src/main.ts'
import type { Ended } from './command.ts'

/** What a command prints and its exit code, in this process: for many small cases. Use `runCommand` for a real one. */
export async function outputOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const taken = { out: '', err: '' }
  const spies = (['out', 'err'] as const).map((name) =>
    vi.spyOn(name === 'out' ? process.stdout : process.stderr, 'write').mockImplementation((text) => {
      taken[name] += typeof text === 'string' ? text : new TextDecoder().decode(text)
      return true
    }),
  )
  try {
    return { code: await main(args, undefined, env), ...taken }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
