import * as library from '@google/adk'
import { isFinalResponse } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

// Slow: importing @google/adk takes seconds.
test('isFinalResponse says what the library says', () => {
  const part = fc.constantFrom(
    { text: 'x' },
    { functionCall: { id: 'c', name: 'f', args: {} } },
    { functionResponse: { id: 'c', name: 'f', response: {} } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK' } },
  )
  const actions = fc.record(
    { skipSummarization: fc.boolean(), requestedAuthConfigs: fc.constantFrom({}, { c: {} }) },
    { requiredKeys: [] },
  )
  const fields = fc.record(
    {
      partial: fc.boolean(),
      actions,
      longRunningToolIds: fc.constantFrom([], ['c']),
      content: fc.record({ role: fc.constant('model'), parts: fc.array(part, { maxLength: 3 }) }),
    },
    { requiredKeys: ['actions'] },
  )
  fc.assert(
    fc.property(fields, (given) => {
      const theirs = library.createEvent(JSON.parse(JSON.stringify({ author: 'a', ...given })))
      const ours = JSON.parse(JSON.stringify(theirs))
      expect(isFinalResponse(ours)).toBe(library.isFinalResponse(theirs))
    }),
    { numRuns: 2000 },
  )
})
