import { describe, expect, test } from 'vitest'
import { loadVectors } from '../../../../../test/kit/vectors.ts'
import { describeDialect } from '../../testing/index.ts'
import { agUi } from './index.ts'

describeDialect({ describe, expect, test }, agUi, loadVectors('ag-ui'))
