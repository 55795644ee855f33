import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convert, dialectNames, printFrame } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { afterAll, expect, test } from 'vitest'
import { outputOf } from '../../../../test/kit/in-process.ts'
import { loadVectors } from '../../../../test/kit/vectors.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-convert-'))
afterAll(() => rmSync(folder, { recursive: true }))
const spoken = dialectNames.filter((name) => name !== 'millrace')
const time = 1_700_000_000

test.each(spoken)('every vector of %s is converted to every dialect as core converts it', async (from) => {
  const file = join(folder, `${from}.sse`)
  let compared = 0
  for (const { wire, tail } of loadVectors(from)) {
    const text = wireText(wire) + tail
    writeFileSync(file, text)
    utimesSync(file, time, time)
    for (const to of dialectNames) {
      let expected = ''
      for await (const frame of convert(text, { from, to, run: 'run-1', now: () => time * 1000 }))
        expected += printFrame(frame)
      const { code, out, err } = await outputOf(['convert', '--from', from, '--to', to, file])
      expect({ code, err, out }).toEqual({ code: 0, err: '', out: expected })
      compared++
    }
  }
  expect(compared).toBeGreaterThan(50)
})
