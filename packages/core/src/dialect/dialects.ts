import { adk } from './adk.ts'
import { agUi } from './ag-ui.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { millrace } from './millrace.ts'
import { plan } from './plan.ts'
import { studio } from './studio.ts'

/** Every wire language by its name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = { adk, 'ag-ui': agUi, studio, plan, millrace }
