// What a run of the tests cost, so that its budget stays visible: each file writes its CPU time (test/kit/cpu-time.ts).
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { root } from './install.mjs'
import { processStat } from './process-stat.mjs'

const folder = `${root}.cache/cpu/`
const started = performance.now()

/** The file that the tests of a suite write to, empty. */
export function costsOf(suite) {
  mkdirSync(folder, { recursive: true })
  rmSync(`${folder}${suite}`, { force: true })
  return `${folder}${suite}`
}

/** The most expensive files of these suites, the sum of each suite, and what the whole run has taken. */
export function printCosts(suites, count = 10) {
  const rows = suites.flatMap((suite) =>
    linesOf(`${folder}${suite}`).map(({ file, seconds }) => ({ suite, file: file.replace(root, ''), seconds })),
  )
  const dearest = rows.toSorted((a, b) => b.seconds - a.seconds).slice(0, count)
  console.log('\nCPU seconds of the most expensive files:')
  for (const { suite, file, seconds } of dearest) console.log(`${seconds.toFixed(1).padStart(7)}  ${suite}: ${file}`)
  for (const suite of suites) {
    const sum = rows.reduce((all, row) => (row.suite === suite ? all + row.seconds : all), 0)
    console.log(`${sum.toFixed(1).padStart(7)}  ${suite}, all files`)
  }
  const { user, system } = process.cpuUsage()
  const spent = (user + system) / 1_000_000 + endedChildren()
  const wall = (performance.now() - started) / 1000
  console.log(`All: ${minutes(spent)} of CPU in ${minutes(wall)}, on ${cpus().length} cores`)
}

function linesOf(file) {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
}

/** CPU seconds of the processes that this one started and that have ended. Only Linux tells. */
const endedChildren = () => (processStat('self')?.ended ?? 0) / 1000

const minutes = (seconds) => `${(seconds / 60).toFixed(1)} min`
