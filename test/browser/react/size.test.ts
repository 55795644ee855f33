import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'
import { packedImports } from '../../../scripts/packed-imports.mjs'
import { withReact } from './built-page.ts'

/** As a string of JavaScript: the path of a checkout may hold an apostrophe. */
const example = (file: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../../examples/${file}`, import.meta.url)))

/** What core and react add to a page that has React already. */
async function weigh(code: string): Promise<number> {
  const name = 'virtual:chat'
  const built = (await build({
    ...withReact(19, 'production'),
    plugins: [
      packedImports(),
      {
        name: 'chat',
        resolveId: (id) => (id === name ? id : undefined),
        load: (id) => (id === name ? code : undefined),
      },
    ],
    build: { write: false, rolldownOptions: { input: name, external: ['react', /^react\//] } },
  })) as Rolldown.RolldownOutput
  const text = built.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')
  expect(text.length).toBeGreaterThan(5000)
  return gzipSync(text).length
}

/** 25 kB gzip for a chat; `useSSE` also folds the timeline, the data flow and wide states, and has the store of the page. */
test.each([
  [
    'by session, transcript and run',
    `import { createClient, MillraceProvider } from '@millrace/react'
     import { Chat } from ${example('react-chat/src/chat.tsx')}
     globalThis.page = [createClient(), MillraceProvider, Chat]`,
    25_000,
  ],
  [
    'by useSSE with the canonical stream, and the chat store',
    `import { Chat } from ${example('next-flag/app/chat.tsx')}
     globalThis.page = Chat`,
    28_000,
  ],
])('a chat %s is small', async (what, code, most) => {
  const size = await weigh(code)
  process.stdout.write(`a chat ${what}: ${size} B gzip of ${most}\n`)
  expect(size).toBeLessThanOrEqual(most)
})
