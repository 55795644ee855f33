// `npm run bench [name …]`: runs bench/<name>*.ts and prints ours, peer, limit and the ratio, all from one run.
import { readdirSync } from 'node:fs'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'
import { withSources } from './load.mjs'
import { ensurePacked } from './pack.mjs'

ensureInstalled()
const wanted = process.argv.slice(2)
const files = readdirSync(`${root}bench`)
  .filter((file) => /^[a-z-]+\.ts$/.test(file))
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
if (files.length === 0) {
  console.error(`no benchmark matches ${wanted.join(' ')}`)
  process.exit(1)
}
if (files.includes('page.ts') || files.includes('postgres.ts')) await ensureBuilt()
if (files.includes('run.ts') || files.includes('convert.ts')) await ensurePacked()
let held = true
await withSources(async (load) => {
  for (const file of files) {
    const { bench } = await load(`/bench/${file}`)
    print(await bench())
  }
})
process.exit(held ? 0 : 1)

function print(rows) {
  for (const row of rows) {
    held &&= row.ok
    const peer = `${row.peer} ${number(row.peerValue)}`
    console.log(`${row.ok ? 'holds ' : 'MISSED'}  ${row.what}`)
    console.log(
      `        ours ${number(row.ours)} | ${peer} | limit ${row.limit} | ratio ${row.ratio.toFixed(2)} (bar ${row.bar})`,
    )
  }
}

function number(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
