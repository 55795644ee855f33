import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../../kit/full.ts'
import { violations } from '../axe.ts'
import { studioTests, type Tab } from '../studio-page.ts'
import { documentPage } from './docs.ts'
import { faults } from './faults.ts'
import { cursors, inputs, kinds, openPanel, type Place, patience, setOut, sizes, themes } from './place.ts'
import { points } from './points.ts'
import { matrixSessions, type Sessions } from './sessions.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-matrix-'))
let log: SqliteLog
const studio = studioTests(0, [], async () => {
  log = await sqliteLog({ folder, now: Date.now })
  return log
})
let sessions: Sessions
beforeAll(async () => {
  sessions = await matrixSessions(studio, full ? 100_000 : 3400)
})
afterAll(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The values of one cell, as places in the lists of values. */
interface Cell {
  readonly point: number
  readonly kind: number
  readonly cursor: number
  readonly theme: number
  readonly size: number
  readonly input: number
}

const indexes = (list: readonly unknown[]): readonly number[] => list.map((_, i) => i)

function everyCell(): readonly Cell[] {
  return indexes(points).flatMap((point) =>
    indexes(kinds).flatMap((kind) =>
      indexes(cursors).flatMap((cursor) =>
        indexes(themes).flatMap((theme) =>
          indexes(sizes).flatMap((size) =>
            indexes(inputs).map((input) => ({ point, kind, cursor, theme, size, input })),
          ),
        ),
      ),
    ),
  )
}

/** Each point at each size once, so that every two values of two dimensions meet in some cell. */
function someCells(): readonly Cell[] {
  return indexes(points).flatMap((point) =>
    indexes(sizes).map((size) => {
      const kind = (point + size) % 3
      return {
        point,
        kind,
        size,
        theme: (kind + size) % 2,
        cursor: (point + size) % 2,
        input: (point + (size >> 1)) % 2,
      }
    }),
  )
}

/** The pairs of values that meet in the cells. */
function pairsIn(cells: readonly Cell[]): ReadonlySet<string> {
  const names = ['point', 'kind', 'cursor', 'theme', 'size', 'input'] as const
  return new Set(
    cells.flatMap((cell) =>
      names.flatMap((a) => names.filter((b) => a < b).map((b) => `${a} ${cell[a]}, ${b} ${cell[b]}`)),
    ),
  )
}

test('the small form has every pair of values of the whole one', () => {
  expect([...pairsIn(everyCell())].filter((pair) => !pairsIn(someCells()).has(pair))).toEqual([])
})

/** `MILLRACE_POINTS="Flow,Wire"` and `MILLRACE_KINDS="examples,imported"` run only these, for a person who repairs one. */
const only = process.env.MILLRACE_POINTS?.split(',')
const onlyKinds = process.env.MILLRACE_KINDS?.split(',')
const isWanted = ({ point, kind }: Cell): boolean =>
  (only === undefined || only.includes(points[point]?.name ?? '')) &&
  (onlyKinds === undefined || onlyKinds.includes(kinds[kind] ?? ''))
const cells = (full ? everyCell() : someCells()).filter(isWanted)
const tabs = kinds.flatMap((kind, k) =>
  sizes.flatMap((size, s) =>
    themes.flatMap((theme, t) => {
      const own = cells.filter((cell) => cell.kind === k && cell.size === s && cell.theme === t)
      return own.length === 0 ? [] : [{ kind, theme, size, width: size.width, own }]
    }),
  ),
)
/**
 * A page that does not open at all fails every cell, and each waits for its whole patience: after so many failed cells
 * the small form tries no more, so that CI says what is wrong before its own limit.
 */
const enough = full ? Number.POSITIVE_INFINITY : 5
let failedCells = 0
const results = new Map<string, { passed: number; all: number }>()
const views = ['flow', 'state', 'proof', 'plan', 'wire', 'problems', 'usage', 'step'] as const

test.each(tabs)('the points on $kind at $width px, $theme', async ({ kind, theme, size, own }) => {
  const tab = await studio.empty({
    viewport: size,
    colorScheme: theme,
    bypassCSP: true,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  tab.page.setDefaultTimeout(patience)
  const wrong: string[] = []
  const mine = await sessions[kind]()
  for (const { point, cursor, input } of inOrder(own)) {
    const { name, try: attempt } = points[point] as (typeof points)[number]
    const place: Place = {
      page: tab.page,
      address: studio.address,
      kind,
      ...mine,
      cursor: cursors[cursor] ?? 'latest',
      input: inputs[input] ?? 'mouse',
      narrow: size.width < 820,
    }
    const failed =
      failedCells < enough ? await cellOf(tab, place, attempt) : [`not tried, because ${enough} cells have failed`]
    if (failed.length > 0) failedCells += 1
    wrong.push(...failed.map((why) => `${name}, ${place.cursor}, ${place.input}: ${why}`))
    const { passed, all } = results.get(`${name} ${kind}`) ?? { passed: 0, all: 0 }
    results.set(`${name} ${kind}`, { passed: passed + (failed.length === 0 ? 1 : 0), all: all + 1 })
    if (failed.length > 0 && failedCells <= enough) {
      await tab.page.screenshot({
        path: `test-results/matrix-${kind}-${size.width}-${theme}-${point}-${cursor}${input}.png`,
      })
      process.stderr.write(
        `${kind} ${size.width} ${theme} ${name} ${place.cursor} ${place.input}: ${failed.join('\n  ')}\n`,
      )
      await tab.page.goto('about:blank')
    }
  }
  if (full && kind === 'examples' && only === undefined) {
    const found = await axeFindings(tab, theme)
    for (const each of found) process.stderr.write(`${size.width} ${theme} ${each}\n`)
    wrong.push(...found)
  }
  expect(wrong).toEqual([])
})

/** The cells of one cursor and input after another, so that little has to be set up between two. */
const inOrder = (all: readonly Cell[]): readonly Cell[] =>
  [...all].sort((a, b) => a.cursor - b.cursor || a.input - b.input || a.point - b.point)

async function cellOf(tab: Tab, place: Place, attempt: (place: Place) => Promise<void>): Promise<readonly string[]> {
  try {
    await setOut(place)
    await attempt(place)
    const noise = tab.noise.splice(0)
    return [...(await tab.page.evaluate(faults)), ...noise]
  } catch (error) {
    return [error instanceof Error ? (error.message.split('\n').slice(0, 6).join(' ') ?? '') : String(error)]
  }
}

async function axeFindings(tab: Tab, theme: string): Promise<readonly string[]> {
  const { page } = tab
  const width = page.viewportSize()?.width ?? 0
  const { session } = await sessions.examples()
  const place: Place = {
    page,
    address: studio.address,
    kind: 'examples',
    session,
    plan: session,
    cursor: 'latest',
    input: 'mouse',
    narrow: width < 820,
  }
  const found: string[] = []
  await setOut(place)
  for (const view of views) {
    await openPanel(place, view)
    await page.locator('.flow-waiting').waitFor({ state: 'detached' })
    found.push(...(await violations(tab)).map((each) => `${view}: ${each}`))
    await page.screenshot({ path: `test-results/view-${view}-${width}-${theme}.png` })
  }
  for (const [name, path] of [
    ['start', '/'],
    ['unknown', '/s/nothing-here'],
    ['compare', `/s/${session}?compare=${(await sessions.imported()).session}`],
  ] as const) {
    await page.goto(`${studio.address}${path}`)
    await page.locator('.shell').waitFor()
    if (name === 'compare') await page.getByTestId('divergence').waitFor()
    if (name === 'start') await page.getByTestId('agent-recovery').waitFor()
    if (name === 'unknown') await page.getByTestId('unknown-place').waitFor()
    found.push(
      ...(await violations(tab)).map((each) => `${name}: ${each}`),
      ...(await page.evaluate(faults)).map((each) => `${name}: ${each}`),
    )
    await page.screenshot({ path: `test-results/view-${name}-${width}-${theme}.png` })
  }
  // The unknown session is refused with 404, which the browser prints.
  tab.noise.splice(0)
  return found
}

test('docs/page.md has the table of the whole form', () => {
  const wrong = documentPage(full ? results : undefined)
  expect(wrong, 'run this file with MILLRACE_FULL=1 MILLRACE_WRITE_DOCS=1 and commit docs/page.md').toBe('')
})
