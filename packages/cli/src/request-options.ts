import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option } from 'commander'
import { CommandError } from './command-error.ts'
import { whyUnreadable } from './input.ts'

/** `-H 'name: value'`, repeatable, as curl has it. */
export function headerOption(): Option {
  return new Option('-H, --header <header>', 'header of the requests, as "name: value"; repeatable')
    .argParser((text: string, before: Readonly<Record<string, string>>) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? []
      if (name === undefined || value === undefined) throw new InvalidArgumentError('It must look like "name: value".')
      return { ...before, [name.toLowerCase()]: value }
    })
    .default({}, 'none')
}

/** The body of a request: the text itself, or with `@` before it the text of a file. It must be JSON. */
export function requestBody(data: string): string {
  const text = data.startsWith('@') ? fileText(data.slice(1)) : data
  try {
    JSON.parse(text)
  } catch {
    throw new CommandError(`--data is not JSON: ${text.slice(0, 60)}`, 2)
  }
  return text
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandError(`--data: ${whyUnreadable(path, error)}`, 2)
  }
}

/** The number of an option, from `least` on. */
export function numberArgument(least: number, most: number, whole = true): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most) || (whole && !Number.isInteger(value)))
      throw new InvalidArgumentError(`It must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`)
    return value
  }
}
