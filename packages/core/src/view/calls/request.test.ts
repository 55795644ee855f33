import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdkContent } from '../../event/adk-event.ts'
import { type Json, sameJson } from '../../json/json.ts'
import { isSentContent, sentContent } from './request.ts'

const id = fc.constantFrom('adk-1', 'call-1', undefined, 7)
const call = fc.record({ id, name: fc.constantFrom('look', undefined), args: fc.constant({ n: 1 }) })
const part = fc.oneof(
  fc.record({ text: fc.constantFrom('a', 'b') }),
  fc.record({ functionCall: call }),
  fc.record({ functionResponse: call, text: fc.constantFrom('a', undefined) }),
  fc.constantFrom(null, 'no part', {}),
)
const content = fc.record(
  { role: fc.constantFrom('user', 'model', undefined, 1), parts: fc.oneof(fc.array(part), fc.constant('none')) },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<AdkContent>
const other = fc.constantFrom<Json>(null, 'text', [], {}, { parts: [] }, { role: 'user', parts: [], more: 1 })

test('SPEC 1.10: a content is compared with what was sent as if it were made anew', () => {
  const sent = fc.oneof(content.map(sentContent), other)
  fc.assert(
    fc.property(content, sent, (now, before) => {
      expect(isSentContent(before, now)).toBe(sameJson(before, sentContent(now)))
    }),
    { numRuns: 2000 },
  )
  fc.assert(
    fc.property(content, (now) => {
      expect(isSentContent(sentContent(now), structuredClone(now))).toBe(true)
    }),
  )
})
