import { describe } from 'vitest'
import { describeDialect } from '../../../../test/dialect-contract.ts'
import { adk } from './adk.ts'

describe('adk', () => describeDialect(adk))
