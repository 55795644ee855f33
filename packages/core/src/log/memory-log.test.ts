import { describe, expect, test } from 'vitest'
import { describeEventLog } from './event-log.contract.ts'
import { memoryLog } from './memory-log.ts'

describeEventLog({ describe, expect, test }, 'memory', memoryLog)
