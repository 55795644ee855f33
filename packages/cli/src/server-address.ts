import { CommandError } from './command-error.ts'
import type { Env } from './env-files.ts'
import { isUrl } from './input.ts'

/** The server that commands speak to, without a slash at its end. */
export function serverAddress(option: string | undefined, env: Env): string {
  const address = option ?? (env.MILLRACE_SERVER || 'http://127.0.0.1:8000')
  if (!isUrl(address))
    throw new CommandError(`--server must be a URL such as http://127.0.0.1:8000, not '${address}'`, 2)
  return address.replace(/\/+$/, '')
}

/** The token of the user, where the environment has one. */
export function tokenHeader(env: Env): Readonly<Record<string, string>> {
  const token = env.MILLRACE_TOKEN ?? ''
  return token === '' ? {} : { authorization: `Bearer ${token}` }
}
