import type { MillraceConfig } from '@millrace/server'
import type { Env } from '../env-files.ts'
import { serveHelp } from '../serve/settings.ts'
import { aligned } from '../terminal.ts'

/** Settings whose value is a secret, or has one in it. */
const secret = /^(token|proxy-secret|database|token-file)$/

/**
 * Every setting of the server with its value and where that comes from. The flags, their variables and their defaults are
 * read from the help, so that the two never differ.
 */
export function configLines(
  args: readonly string[],
  env: Env,
  agents: string,
  file: MillraceConfig,
): readonly string[] {
  const given = flagsIn(args)
  const rows = settingsIn(serveHelp).map(({ flag, variable, fallback }) => {
    const value = given.get(flag)
    if (value !== undefined) return [`--${flag}`, shown(flag, value), 'flag']
    const set = variable === undefined ? undefined : env[variable]
    if (set !== undefined && set !== '') return [`--${flag}`, shown(flag, set), String(variable)]
    return [`--${flag}`, flag === 'agents' ? agents : (fallback ?? '–'), 'default']
  })
  const own = Object.entries(file).map(([key, value]) => [key, JSON.stringify(value), 'millrace.config'])
  return aligned([...rows, ...own])
}

interface NamedSetting {
  readonly flag: string
  readonly variable: string | undefined
  readonly fallback: string | undefined
}

function settingsIn(help: string): readonly NamedSetting[] {
  // The description of a setting may continue on the next line.
  return [...help.matchAll(/^ {2}--([\w-]+)(.*(?:\n {22}.*)?)$/gm)].flatMap(([, flag = '', rest = '']) => {
    if (flag === 'print-config' || flag === 'watch') return []
    const [, variable, said] = /\(([A-Z][A-Z_]+)(?:=on)?(?:[,;] ([^()]+))?\)\s*:?$/m.exec(rest) ?? []
    // `comma-separated` describes the format of the variable; it is not a default.
    return [{ flag, variable, fallback: said?.startsWith('comma-separated') === true ? undefined : said }]
  })
}

/** The values of the flags; a flag that is given twice has both. */
export function flagsIn(args: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  args.forEach((arg, i) => {
    const [, flag = '', inline] = /^--([\w-]+)(?:=(.*))?$/s.exec(arg) ?? []
    if (flag === '') return
    const next = args[i + 1]
    const value = inline ?? (next === undefined || next.startsWith('--') ? 'on' : next)
    found.set(flag, found.has(flag) ? `${found.get(flag)}, ${value}` : value)
  })
  return found
}

const shown = (flag: string, value: string): string => (secret.test(flag) ? 'set (not shown)' : value)
