import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'
import { afterEach, expect, test, vi } from 'vitest'
import { reactVersions, withReact } from './built-page.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

test.each(reactVersions)('React %d: every hook renders on a server, and sends no request there', async (version) => {
  const outDir = `${root}.cache/react-ssr/${version}`
  await build({
    ...withReact(version, 'development'),
    ssr: { noExternal: true, resolve: { conditions: ['node', 'module', 'default'] } },
    build: {
      ssr: 'test/browser/react/ssr.tsx',
      outDir,
      rolldownOptions: { output: { entryFileNames: 'ssr.mjs' } },
    },
  })
  vi.stubGlobal('fetch', () => {
    throw new Error('rendering on a server must send no request')
  })
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { render } = (await import(/* @vite-ignore */ `${pathToFileURL(outDir).href}/ssr.mjs?${version}`)) as {
    render(): { version: string; html: string }
  }
  const { version: used, html } = render()
  expect(used).toMatch(new RegExp(`^${version}\\.`))
  expect(html).toContain('from the server')
  expect(html).toContain('connecting idle 0 -1')
  expect(html).toContain('0 false')
  expect(complaints.mock.calls).toEqual([])
})
