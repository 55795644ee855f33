import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { full } from '../kit/full.ts'

/** The example in Next.js, as its README has it installed. */
const example = fileURLToPath(new URL('../../examples/next-flag/', import.meta.url))
const manifest = JSON.parse(readFileSync(`${example}package.json`, 'utf8')) as { dependencies: Record<string, string> }
const packed = Object.entries(manifest.dependencies).filter(([, from]) => from.startsWith('file:'))

const folder = mkdtempSync(join(tmpdir(), 'millrace-next-'))
afterAll(() => rmSync(folder, { recursive: true }))

const tarballOf = (from: string): string => resolve(example, from.slice('file:'.length))

test('what examples/next-flag installs of ours is what was packed', () => {
  expect(packed.map(([name]) => name)).toEqual(['@millrace/core', '@millrace/react'])
  expect(packed.filter(([, from]) => !existsSync(tarballOf(from)))).toEqual([])
})

// Next is too large to be installed each time.
if (full)
  test('examples/next-flag is installed and built', async () => {
    cpSync(example, folder, {
      recursive: true,
      filter: (path) => !/node_modules|\.next/.test(path.slice(example.length)),
    })
    const dependencies = { ...manifest.dependencies }
    for (const [name, from] of packed) dependencies[name] = `file:${tarballOf(from)}`
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, dependencies }))
    const run = promisify(execFile)
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', '--include=dev', ...quiet], { cwd: folder, env })
    await run('npm', ['run', 'build'], { cwd: folder, env })
    expect(readFileSync(join(folder, '.next/server/app/index.html'), 'utf8')).toContain('Ask</button>')
  })
