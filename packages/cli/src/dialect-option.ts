import { dialectNames } from '@millrace/core'
import { Option } from 'commander'

/** An option whose value is the name of a dialect; with `auto`, also `auto`, which is then the default. */
export function dialectOption(flags: string, description: string, auto?: 'auto'): Option {
  const option = new Option(flags, description).choices(auto === undefined ? dialectNames : [auto, ...dialectNames])
  return auto === undefined ? option : option.default(auto)
}

/** What core takes for "detect it". */
export const fromAuto = <T extends string>(name: T | 'auto'): T | undefined => (name === 'auto' ? undefined : name)
