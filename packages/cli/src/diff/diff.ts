import type { DialectName } from '@millrace/core'
import { fromAuto } from '../dialect-option.ts'
import { sayJson } from '../output.ts'
import { readWhole } from '../read-whole.ts'
import { compareRuns } from './compare.ts'
import { printComparison } from './print.ts'

export interface DiffOptions {
  readonly from: DialectName | 'auto'
  readonly json?: true
}

/** Resolves with the exit code. */
export async function diffCommand(a: string, b: string, { from, json }: DiffOptions): Promise<number> {
  const [first, second] = [await readWhole(a, fromAuto(from)), await readWhole(b, fromAuto(from))]
  const authors = first.dialect === second.dialect || ![first.dialect, second.dialect].includes('ag-ui')
  const comparison = compareRuns(first.rows, second.rows, authors)
  if (json === true) sayJson({ a, b, ...comparison })
  else printComparison(a, b, comparison)
  return comparison.equal ? 0 : 1
}
