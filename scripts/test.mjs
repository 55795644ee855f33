// `npm test`: install, build, pack, every gate, every test; closes with one plain line `N passed, M failed`.
// `npm run test:postgres` runs what clients and pages see over servers on PostgreSQL; `npm test` runs a sample of it.
// `npm run test:full` (MILLRACE_FULL=1) runs the storms and soaks whole, which `npm test` runs small.
// `npm test -- --costs` prints what every file has cost, not only the ten most expensive ones.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { check } from './check.mjs'
import { ensureForeign } from './foreign.mjs'
import { bin, installBeside, root } from './install.mjs'
import { ensurePacked } from './pack.mjs'
import { costsOf, printCosts } from './test-costs.mjs'

const onPostgres = process.argv.includes('--postgres')
if (process.argv.includes('--full')) process.env.MILLRACE_FULL = '1'
const isFull = process.env.MILLRACE_FULL === '1'
// Installs wait for the network most of the time: they go on side by side, and beside all that does not need them.
const foreign = ensureForeign()
await installBeside()
const packed = ensurePacked()
const ready = Promise.all([packed, foreign])
const total = { passed: 0, failed: 0, skipped: 0 }
/** What failed, by name: printed last, because the runs before it are thousands of lines long. */
const failures = []
const ran = []
// Three lanes, and several workers in two of them: processes and browsers wait for others half of their time.
if (onPostgres) await ready.then(() => postgres(true))
else
  await Promise.all([
    quick(),
    ready.then(() => suite('slow', ['--project', 'slow-apart'])),
    ready.then(() => suite('browser', [])),
  ])
printCosts(ran, process.argv.includes('--costs') ? Infinity : 10)
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((name) => `  ${name}`).join('\n')}`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exitCode = total.failed === 0 ? 0 : 1

async function quick() {
  // On sources, so that they need not wait for what is packed.
  await suite('unit', ['--coverage'])
  await packed
  // The tests of the architecture are unit tests, too.
  for (const { name, ok } of await check(['architecture'])) {
    total[ok ? 'passed' : 'failed']++
    if (!ok) failures.push(`gate: ${name}`)
  }
  await ready
  await suite('built', [])
  await postgres(isFull)
}

/** The clients of others, the documented requests and the page, over servers on PostgreSQL: all of it, or a sample. */
async function postgres(whole) {
  const env = { MILLRACE_TEST_DATABASE: 'on' }
  const http = whole ? ['test/http'] : ['test/http/ag-ui-client.test.ts', 'test/http/documented-requests.test.ts']
  await suite('built', http, { name: 'built-on-postgres', env })
  if (whole) await suite('slow', ['test/http'], { name: 'slow-on-postgres', env })
  await suite('browser', whole ? [] : ['test/browser/page.test.ts'], { name: 'browser-on-postgres', env })
}

async function suite(project, extra, { name: title = project, env = {} } = {}) {
  const report = `${root}.cache/${title}.json`
  mkdirSync(`${root}.cache`, { recursive: true })
  rmSync(report, { force: true })
  ran.push(title)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args = ['run', '--project', project, ...reporters, ...extra]
  // Piped, so that two suites share the terminal line by line.
  const child = spawn(bin('vitest'), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, CI: 'true', MILLRACE_CPU_REPORT: costsOf(title) },
  })
  child.stdout.pipe(process.stdout, { end: false })
  child.stderr.pipe(process.stderr, { end: false })
  const [status] = await once(child, 'close')
  const counts = readCounts(report)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  failures.push(...counts.names.map((name) => `${title}: ${name}`))
  // A crash, a coverage threshold or an unhandled error fails the run without failing a test; no test at all is a failure too.
  if (counts.failed === 0 && (status !== 0 || counts.passed === 0)) {
    total.failed++
    failures.push(
      `${title}: no test failed, but vitest ended with ${status} (coverage, or an unhandled error: see above)`,
    )
  }
}

function readCounts(report) {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    const brokenFiles = result.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    )
    const failed = result.testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `${name}: ${fullName}`),
    )
    return {
      names: [...brokenFiles.map(({ name }) => name), ...failed].map((name) => name.replace(root, '')),
      passed: result.numPassedTests,
      failed: result.numFailedTests + brokenFiles.length,
      skipped: result.numPendingTests + result.numTodoTests,
    }
  } catch {
    return { names: ['no report was written'], passed: 0, failed: 1, skipped: 0 }
  }
}
