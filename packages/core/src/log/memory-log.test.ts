import { describe, expect, test } from 'vitest'
import { describeEventLog } from '../testing/event-log/index.ts'
import { memoryLog } from './memory-log.ts'

describeEventLog({ describe, expect, test }, 'memory', memoryLog)
