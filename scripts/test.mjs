// `npm test`: install, build, pack, every gate, every test; closes with one plain line `N passed, M failed`.
// `npm run test:postgres` runs what clients and pages see over servers on PostgreSQL; `npm test` runs a sample of it.
// `npm run test:full` (MILLRACE_FULL=1) runs the storms and soaks whole, which `npm test` runs small.
// `npm test -- --costs` prints what every file has cost, not only the ten most expensive ones.
import { setTimeout } from 'node:timers/promises'
import { check } from './check.mjs'
import { ensureForeign } from './foreign.mjs'
import { installBeside } from './install.mjs'
import { ensurePacked } from './pack.mjs'
import { testRun } from './test-run.mjs'

const onPostgres = process.argv.includes('--postgres')
if (process.argv.includes('--full')) process.env.MILLRACE_FULL = '1'
const isFull = process.env.MILLRACE_FULL === '1'

const { suite, count, run } = testRun({ costs: process.argv.includes('--costs') ? Infinity : 10 })

/** Where nothing answers, each test waits for its whole patience: after so many failures a suite ends. */
const giveUp = isFull || onPostgres ? [] : ['--bail', '20']

await run(async () => {
  // Installs wait for the network most of the time: they go on side by side, and beside all that does not need them.
  const foreign = ensureForeign()
  await installBeside()
  const packed = ensurePacked()
  const ready = Promise.all([packed, foreign])
  // Three lanes, and several workers in two of them: processes and browsers wait for others half of their time.
  if (onPostgres) await ready.then(() => postgres(true))
  else
    await Promise.all([
      quick(packed, ready),
      ready.then(() => suite('slow', ['--project', 'slow', '--project', 'slow-apart', ...giveUp])),
      ready.then(() => suite('browser', ['--project', 'browser', ...giveUp])),
    ])
}, limit())

/**
 * Less time than any CI gives a job, so that what hangs is named by this run and not lost with it. The longer forms have
 * a person beside them.
 */
function limit() {
  const minutes = Number(process.env.MILLRACE_TEST_MINUTES ?? (isFull || onPostgres ? 0 : 50))
  const reason = `the run was ended after ${minutes} minutes (MILLRACE_TEST_MINUTES sets another limit, 0 none)`
  return minutes > 0 ? setTimeout(minutes * 60_000, reason, { ref: false }) : new Promise(() => {})
}

async function quick(packed, ready) {
  // On sources, so that they need not wait for what is packed.
  await suite('unit', ['--project', 'unit', '--coverage'])
  await packed
  // The tests of the architecture are unit tests, too.
  for (const { name, ok } of await check(['architecture'])) count(`gate: ${name}`, ok)
  await ready
  await suite('built', ['--project', 'built'])
  await postgres(isFull)
}

/** The clients of others, the documented requests and the page, over servers on PostgreSQL: all of it, or a sample. */
async function postgres(whole) {
  const env = { MILLRACE_TEST_DATABASE: 'on' }
  const http = whole ? ['test/http'] : ['test/http/ag-ui-client.test.ts', 'test/http/documented-requests.test.ts']
  await suite('built-on-postgres', ['--project', 'built', ...http], env)
  if (whole) await suite('slow-on-postgres', ['--project', 'slow', 'test/http', ...giveUp], env)
  const pages = whole ? [] : ['test/browser/page.test.ts']
  await suite('browser-on-postgres', ['--project', 'browser', ...pages, ...giveUp], env)
}
