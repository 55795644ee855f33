import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sourcesOf, stampOf } from './sources.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-sources-'))
const file = join(folder, 'agent.ts')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('an edit while the files are read changes their stamp, so that the imports that it adds are looked for', async () => {
  writeFileSync(file, '')
  const reading = sourcesOf(file)
  writeFileSync(file, "import './tools.ts'\n")
  const { files, stamps } = await reading
  expect(stampOf(files)).not.toBe(stampOf(files, stamps))
  const again = await sourcesOf(file)
  expect(stampOf([...again.files, ...again.missing])).toBe(stampOf([...again.files, ...again.missing], again.stamps))
})

test('a missing file that is added changes the stamp, and is a source from then on', async () => {
  writeFileSync(file, "import './later.js'\n")
  const { files, missing, stamps } = await sourcesOf(file)
  expect(files).toEqual([file])
  expect(missing).toContain(join(folder, 'later.ts'))
  writeFileSync(join(folder, 'later.ts'), 'export {}')
  const all = [...files, ...missing]
  expect(stampOf(all)).not.toBe(stampOf(all, stamps))
  expect((await sourcesOf(file)).files).toEqual([file, join(folder, 'later.ts')])
})
