// `npm run screenshots`: a recovery briefing on the built server, offline, and the pictures of it that README.md shows.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'
import { withSources } from './load.mjs'

ensureInstalled()
await ensureBuilt()
const folder = mkdtempSync(join(tmpdir(), 'millrace-screenshots-'))
const server = spawn(process.execPath, [`${root}packages/cli/dist/main.js`, 'serve', '--port', '0'], {
  env: {
    ...process.env,
    DATA_DIR: folder,
    // The text is scripted and comes without pauses; API keys in this environment are not used.
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0',
    GOOGLE_API_KEY: '',
    GEMINI_API_KEY: '',
    OPENAI_API_KEY: '',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => server.once('exit', resolve))
try {
  const address = await listening(server)
  await withSources(async (load) => {
    const { takePictures } = await load('/test/browser/pictures.ts')
    for (const file of await takePictures(address, `${root}docs/`)) console.log(`docs/${file}`)
  })
} finally {
  server.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

async function listening({ stdout }) {
  stdout.setEncoding('utf8')
  let said = ''
  for await (const text of stdout) {
    said += text
    const address = /listening on (\S+)/.exec(said)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`the server did not start: ${said}`)
}
