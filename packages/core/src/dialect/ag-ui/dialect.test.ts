import { describe } from 'vitest'
import { describeDialect } from '../../../../../test/kit/dialect-contract.ts'
import { agUi } from './index.ts'

describe('ag-ui', () => describeDialect(agUi))
