import { adk } from './adk/index.ts'
import { agUi } from './ag-ui/index.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { millrace } from './millrace/index.ts'
import { planDialect } from './plan/index.ts'
import { studio } from './studio/index.ts'

/** Every wire language by its name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  adk,
  'ag-ui': agUi,
  studio,
  plan: planDialect,
  millrace,
}
