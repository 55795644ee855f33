// `npm run bench [name …]`: runs bench/<name>*.ts and prints ours, peer, limit and the ratio, all from one run.
import { readdirSync } from 'node:fs'
import { ensureInstalled, root } from './install.mjs'

ensureInstalled()
const { createServer } = await import('vite')
const wanted = process.argv.slice(2)
const files = readdirSync(`${root}bench`)
  .filter((file) => /^[a-z-]+\.ts$/.test(file) && file !== 'row.ts')
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
if (files.length === 0) {
  console.error(`no benchmark matches ${wanted.join(' ')}`)
  process.exit(1)
}
const conditions = ['source']
const vite = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
  ssr: { resolve: { conditions, externalConditions: conditions } },
})
let held = true
for (const file of files) {
  const { bench } = await vite.ssrLoadModule(`/bench/${file}`)
  for (const row of await bench()) {
    held &&= row.ok
    const peer = `${row.peer} ${number(row.peerValue)}`
    console.log(`${row.ok ? 'holds ' : 'MISSED'}  ${row.what}`)
    console.log(
      `        ours ${number(row.ours)} | ${peer} | limit ${row.limit} | ratio ${row.ratio.toFixed(2)} (bar ${row.bar})`,
    )
  }
}
await vite.close()
process.exit(held ? 0 : 1)

function number(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}
