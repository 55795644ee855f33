import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { rowKindOf } from '../../log/retention.ts'
import { millrace } from './index.ts'

test('SPEC 3.4: every row comes back as it was', () => {
  fc.assert(
    fc.property(sessions(), (rows) => {
      const [encoder, decoder] = [millrace.encoder({ session: 's' }), millrace.decoder({ run: 'other' })]
      const back = rows.flatMap((row) => encoder.push(row)).flatMap((frame) => decoder.push(frame))
      expect(back).toEqual(JSON.parse(JSON.stringify(rows)))
    }),
  )
})

test('stored text prints the same line without being parsed', () => {
  fc.assert(
    fc.property(fc.oneof(sessions(), chaos()), fc.string(), (rows, run) => {
      const encoder = millrace.encoder({ session: 's' })
      for (const { seq, at, event } of rows) {
        const raw = { seq, at, run, kind: rowKindOf(event), body: JSON.stringify(event) }
        expect([{ data: millrace.printRaw?.(raw) }]).toEqual(encoder.push({ seq, at, run, event }))
      }
    }),
  )
})
