import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

type Env = Readonly<Record<string, string | undefined>>

/** Where the tokens of users come from. */
interface TokenSources {
  /** `USER=TOKEN`. Every user of the machine can read the arguments of a process; the other two are private. */
  readonly flags: readonly string[]
  /** A file with a line for each token. */
  readonly file: string | undefined
}

const hash = 'sha256:'

/**
 * The tokens as SHA-256 → user, so that the tokens themselves stay nowhere in memory; undefined when there are none. A
 * text says what is wrong, and never contains a token.
 */
export function readTokens({ flags, file }: TokenSources, env: Env): ReadonlyMap<string, string> | undefined | string {
  const lines = linesOf(file ?? (env.MILLRACE_TOKEN_FILE || undefined))
  if (typeof lines === 'string') return lines
  const entries = [
    ...flags.map((text) => ({ text, from: '--token' })),
    ...(env.MILLRACE_TOKENS ?? '').split(',').map((text) => ({ text, from: 'MILLRACE_TOKENS' })),
    ...lines,
  ]
  const tokens = new Map<string, string>()
  for (const { text, from } of entries) {
    const entry = text.trim()
    if (entry === '') continue
    const [, user = '', token = ''] = /^([^=]+)=(\S{8,})$/.exec(entry) ?? []
    if (user === '') return `${from} must be USER=TOKEN, with a token of at least 8 characters`
    const digest = digestOf(token)
    if (digest === undefined) return `${from}: ${hash} must be followed by 64 hexadecimal digits`
    const other = tokens.get(digest) ?? user
    if (other !== user) return `${other} and ${user} have the same token; give each user a different one`
    tokens.set(digest, user)
  }
  return tokens.size === 0 ? undefined : tokens
}

/** The lines of the file, without blank ones and comments; or a sentence. */
function linesOf(file: string | undefined): readonly { readonly text: string; readonly from: string }[] | string {
  if (file === undefined) return []
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return `--token-file: cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`
  }
  const lines = text
    .split(/\r?\n/)
    .map((line, i) => ({ text: line, from: `line ${i + 1} of ${file}` }))
    .filter((line) => !/^\s*(#|$)/.test(line.text))
  return lines.length === 0 ? `--token-file: ${file} has no token; add a line USER=TOKEN` : lines
}

/** Tokens may also be given as their hash, which is worthless to a thief: `printf %s TOKEN | sha256sum`. */
function digestOf(token: string): string | undefined {
  if (!token.startsWith(hash)) return hash + createHash('sha256').update(token).digest('hex')
  return /^sha256:[\da-f]{64}$/i.test(token) ? token.toLowerCase() : undefined
}
