import { expect, test } from 'vitest'
import { loadViewVectors } from '../../../../test/kit/vectors.ts'
import { isCallRecord } from '../event/model-call.ts'
import type { Recorded } from '../event/run-event.ts'
import { dialects } from './registry.ts'

const rows = loadViewVectors('calls').flatMap((vector) => vector.rows)

test.each(Object.values(dialects).filter(({ name }) => name !== 'millrace'))(
  'SPEC 1.9: a client of $name is shown what came of a call, and not its record',
  (dialect) => {
    const frames = (some: readonly Recorded[]): readonly unknown[] => {
      const encoder = dialect.encoder({ session: 's' })
      return some.flatMap((row) => encoder.push(row)).filter(({ data = '' }) => !/Calling (gemini|a model)/.test(data))
    }
    expect(rows.some(({ event }) => isCallRecord(event))).toBe(true)
    expect(frames(rows)).toEqual(frames(rows.filter(({ event }) => !isCallRecord(event))))
  },
)
