// What `npm test` counts while its suites run, and how it ends: with one plain line, also when a suite hangs, an install
// fails or a signal ends it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import { bin, root } from './install.mjs'
import { costsOf, printCosts } from './test-costs.mjs'

/** How long vitest may take to write what it was doing, and its processes to clean up, in ms, before they are killed. */
const patience = 5000

/** What a suite resolves with once the run is over, so that nothing is started after it. */
const never = new Promise(() => {})

/** @param {{ costs?: number }} options how many files are printed with what they cost */
export function testRun({ costs = 10 } = {}) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  /** What failed, by name: printed last, because the runs before it are thousands of lines long. */
  const failures = []
  const ran = []
  /** The suites that run now, by title. */
  const running = new Map()
  let over = false
  let closed = false

  process.once('exit', () => {
    for (const { child } of running.values()) end(child, 'SIGKILL')
    if (closed) return
    failed('the run ended before its tests did: see above')
    close()
  })
  // A signal from a terminal reaches only this process, because each suite is a group of its own.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.once(signal, () => {
      for (const { child } of running.values()) end(child, signal)
      // They may clean up after this process.
      running.clear()
      process.exit(1)
    })

  function failed(name) {
    total.failed++
    failures.push(name)
  }

  /** Runs a project of vitest and counts its tests. */
  async function suite(title, args, env = {}) {
    if (over) return never
    const report = `${root}.cache/${title}.json`
    const stopped = `${root}.cache/${title}.stopped.json`
    mkdirSync(`${root}.cache`, { recursive: true })
    for (const file of [report, stopped]) rmSync(file, { force: true })
    ran.push(title)
    const reporters = ['default', 'json', `${root}scripts/stopped-report.mjs`].map((name) => `--reporter=${name}`)
    // Piped, so that two suites share the terminal line by line. A group, so that it can be ended with all that it started.
    const child = spawn(bin('vitest'), ['run', ...reporters, `--outputFile.json=${report}`, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      env: {
        ...process.env,
        ...env,
        CI: 'true',
        MILLRACE_CPU_REPORT: costsOf(title),
        MILLRACE_STOPPED_REPORT: stopped,
      },
    })
    running.set(title, { child, report, stopped })
    child.stdout.pipe(process.stdout, { end: false })
    child.stderr.pipe(process.stderr, { end: false })
    const [status] = await once(child, 'close')
    if (over) return never
    running.delete(title)
    const counts = readCounts(report)
    add(title, counts)
    // A crash, a coverage threshold or an unhandled error fails the run without failing a test; no test at all is a failure too.
    if (counts.failed === 0 && (status !== 0 || counts.passed === 0))
      failed(`${title}: no test failed, but vitest ended with ${status} (coverage, or an unhandled error: see above)`)
  }

  function add(title, counts) {
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
    failures.push(...counts.names.map((name) => `${title}: ${name}`))
  }

  /** Ends a suite, and counts what it had done until then. */
  async function stop([title, { child, report, stopped }]) {
    child.kill('SIGTERM')
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    await Promise.race([ended, after(patience)])
    end(child, 'SIGTERM')
    await after(patience)
    end(child, 'SIGKILL')
    if (existsSync(report)) add(title, readCounts(report))
    else if (existsSync(stopped)) add(title, readCounts(stopped))
    const names = existsSync(stopped) ? JSON.parse(readFileSync(stopped, 'utf8')).running : []
    failed(`${title} had not ended${names.length > 0 ? `; still running: ${names.join('; ')}` : ''}`)
  }

  /** Prints what was counted; the last line is the result. */
  function close() {
    closed = true
    printCosts(ran, costs)
    if (failures.length > 0) console.log(`\nFailed:\n${failures.map((name) => `  ${name}`).join('\n')}`)
    const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
    console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
    process.exitCode = total.failed === 0 ? 0 : 1
  }

  /**
   * Runs it all and prints the result. When `limit` resolves before, with a sentence, what runs is ended.
   *
   * @param {() => Promise<void>} all
   * @param {Promise<string>} limit
   */
  async function run(all, limit) {
    const reason = await Promise.race([all(), limit])
    over = true
    if (reason !== undefined) {
      failed(reason)
      await Promise.all([...running].map(stop))
    }
    close()
    // What hangs would keep this process.
    process.stdout.write('', () => process.exit())
  }

  return {
    suite,
    run,
    /** Counts what is not a test of vitest. */
    count: (name, ok) => (ok ? total.passed++ : failed(name)),
  }
}

/** Ends a suite with all the processes that it started. */
function end(child, signal) {
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // It has ended.
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
