// `npm test`: install, build, every gate, every test; closes with one plain line `N passed, M failed`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { ensureBuilt } from './build.mjs'
import { check } from './check.mjs'
import { ensureForeign } from './foreign.mjs'
import { bin, ensureInstalled, root } from './install.mjs'

ensureInstalled()
ensureBuilt()
ensureForeign()
const total = { passed: 0, failed: 0, skipped: 0 }
for (const { ok } of check()) total[ok ? 'passed' : 'failed']++
suite('unit', ['--coverage'])
suite('slow', [])
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exitCode = total.failed === 0 ? 0 : 1

function suite(project, extra) {
  const report = `${root}.cache/${project}.json`
  mkdirSync(`${root}.cache`, { recursive: true })
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const args = ['run', '--project', project, ...reporters, ...extra]
  const { status } = spawnSync(bin('vitest'), args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CI: 'true' },
  })
  const counts = readCounts(report)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  // A crash, a coverage threshold or an unhandled error fails the run without failing a test; no test at all is a failure too.
  if (counts.failed === 0 && (status !== 0 || counts.passed === 0)) total.failed++
}

function readCounts(report) {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    const brokenFiles = result.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    )
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + brokenFiles.length,
      skipped: result.numPendingTests + result.numTodoTests,
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
}
