import { describe } from 'vitest'
import { describeDialect } from '../../../../test/dialect-contract.ts'
import { agUi } from './ag-ui.ts'

describe('ag-ui', () => describeDialect(agUi))
