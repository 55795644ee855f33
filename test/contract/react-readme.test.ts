import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const blocks = [...read('../../packages/react/README.md').matchAll(/```tsx\n(.*?)```/gs)].map(([, code = '']) => code)

test('there is code in it', () => expect(blocks.length).toBeGreaterThan(3))

test.each(blocks)('the code of the README is code that compiles: %#', (block) => {
  expect(read('./react-readme.tsx')).toContain(block)
})
