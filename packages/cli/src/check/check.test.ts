import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialectNames, type Frame } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { afterAll, expect, test } from 'vitest'
import { outputOf } from '../../../../test/kit/in-process.ts'
import { loadVectors } from '../../../../test/kit/vectors.ts'
import type { Checked } from './report.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-check-'))
afterAll(() => rmSync(folder, { recursive: true }))
const vectors = new URL('../../../../vectors/check/', import.meta.url)
const data = <T>(name: string): T => JSON.parse(readFileSync(new URL(name, vectors), 'utf8')) as T

interface Broken {
  readonly name: string
  readonly dialect: string
  readonly code: string
  readonly frame?: number
  readonly wire: readonly Frame[]
}
const broken = data<readonly Broken[]>('broken.json')

/** What is wrong with vectors that show how bad streams are read. All others are good. */
const known = data<Readonly<Record<string, readonly string[]>>>('known.json')

const file = join(folder, 'stream.sse')
async function check(text: string, dialect: string, ...flags: readonly string[]) {
  writeFileSync(file, text)
  return outputOf(['check', '--from', dialect, ...flags, file])
}

test.each(broken)('$name is found', async ({ wire, dialect, code, frame }) => {
  const { out } = await check(wireText(wire), dialect, '--json')
  const { findings } = JSON.parse(out) as Checked
  const found = findings.map((each) => [each.code, frame === undefined ? undefined : each.frame])
  expect(found).toContainEqual([code, frame])
  // The fault that was planted, and what follows from it, but no flood.
  expect(findings.length).toBeLessThan(4)
})

test('nothing is found in good vectors', async () => {
  const found: Record<string, readonly string[]> = {}
  for (const dialect of dialectNames.filter((name) => name !== 'millrace')) {
    for (const { name, wire, tail } of loadVectors(dialect)) {
      const { out, code } = await check(wireText(wire) + tail, dialect, '--json')
      const { findings, errors } = JSON.parse(out) as Checked
      expect(code).toBe(errors > 0 ? 1 : 0)
      const codes = new Set(findings.filter(({ severity }) => severity !== 'info').map((each) => each.code))
      if (codes.size > 0) found[`${dialect}/${name}`] = [...codes].sort()
    }
  }
  expect(found).toEqual(known)
})

const orphan = broken.find(({ code }) => code === 'result-without-call')
const orphanText = wireText(orphan?.wire ?? [])

test('the report is for people, or JSON, SARIF or JUnit', async () => {
  const human = await check(orphanText, 'auto')
  expect(human).toMatchObject({ code: 1, err: '' })
  expect(human.out).toMatch(
    /stream\.sse {2}ag-ui, \d+ events\n {2}frame 5 {2}error {2}.*result-without-call\n {2}1 error\n/,
  )
  const sarif = JSON.parse((await check(orphanText, 'auto', '--sarif')).out)
  expect(sarif).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        results: [
          { ruleId: 'result-without-call', level: 'error', message: { text: expect.stringMatching(/^frame 5: /) } },
        ],
      },
    ],
  })
  const { out: junit } = await check(orphanText, 'auto', '--junit')
  expect(junit).toMatch(/<testsuite name=".*stream\.sse" tests="\d+" failures="1">/)
  expect(junit).toContain('<testcase name="result-without-call"')
  expect(junit).toContain('<failure message="frame 5: ')
})

test('warnings fail only with --strict, and a file that is no stream is an error of its own', async () => {
  const warned = wireText(broken.find(({ code }) => code === 'call-unanswered')?.wire ?? [])
  expect((await check(warned, 'auto')).code).toBe(0)
  expect((await check(warned, 'auto', '--strict')).code).toBe(1)
  expect(await check('hello\n\n', 'auto')).toMatchObject({
    code: 1,
    out: expect.stringContaining('error  this is neither JSON nor an event stream'),
  })
})
