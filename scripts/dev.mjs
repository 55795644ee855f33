// `npm run dev`: the page with hot reload and the server from sources, behind one port. An edit of the page is shown
// without a reload; an edit of the core, the server, the command or an agent restarts the server, and open streams
// resume. Other arguments go to `millrace serve`: npm run dev -- --port 9000 --agents ../my-agents
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { restartable } from './dev-server.mjs'
import { ensureInstalled, root } from './install.mjs'

ensureInstalled('serving')
const { createServer } = await import('vite')
const args = process.argv.slice(2)
const options = { port: { type: 'string' }, agents: { type: 'string' } }
const { values } = parseArgs({ args, options, strict: false })
const port = Number(values.port || process.env.PORT || 8000)
const agents = resolve(values.agents || process.env.MILLRACE_AGENTS || `${root}agents`)
// Of an option that is given twice, the last one counts.
const server = restartable([
  '--grace',
  '0',
  '--isolate',
  'off',
  ...args,
  '--host',
  '127.0.0.1',
  '--port',
  '0',
  '--agents',
  agents,
])
const http = createHttpServer(answer)
const vite = await createServer({
  root: `${root}packages/studio`,
  base: '/',
  cacheDir: `${root}.cache/vite`,
  appType: 'custom',
  server: { middlewareMode: true, hmr: { server: http } },
})
const sources = [...['core', 'server', 'cli'].map((name) => `${root}packages/${name}/src`), agents]
vite.watcher.add(sources)
vite.watcher.on('all', (what, file) => {
  const isSource = sources.some((folder) => file.startsWith(folder)) && !/\.test\.|\/dist\//.test(file)
  if (isSource && what !== 'addDir') server.restart(file.replace(root, ''))
})
http.on('error', ({ message }) => stop(1, message))
http.listen(port, '127.0.0.1', () =>
  console.log(`Millrace (development) is on http://127.0.0.1:${http.address().port}`),
)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop(0))

/** The page and its modules come from Vite; every other request goes to the server. */
function answer(incoming, outgoing) {
  const path = incoming.url.split('?', 1)[0]
  const reads = incoming.method === 'GET' || incoming.method === 'HEAD'
  if (reads && (path === '/' || path.startsWith('/s/'))) return sendPage(outgoing)
  if (reads && /^\/(@|src\/|node_modules\/)/.test(path)) return vite.middlewares(incoming, outgoing)
  return forward(incoming, outgoing)
}

async function sendPage(outgoing) {
  const html = readFileSync(`${root}packages/studio/index.html`, 'utf8').replace('<head>', '<head><base href="/">')
  outgoing.setHeader('content-type', 'text/html; charset=utf-8')
  outgoing.end(await vite.transformIndexHtml('/', html))
}

/** Waits while the server restarts. `Host` and `Origin` pass unchanged, because the server checks them. */
async function forward(incoming, outgoing) {
  const address = await server.address()
  if (address === undefined) {
    outgoing.writeHead(503, { 'content-type': 'text/plain' })
    return outgoing.end('The server did not start. The terminal shows why; it starts again after the next edit.\n')
  }
  const { method, url, headers } = incoming
  const sent = request(new URL(url, address), { method, headers }, (reply) => {
    outgoing.writeHead(reply.statusCode, reply.headers)
    reply.pipe(outgoing)
    reply.on('error', () => outgoing.destroy())
  })
  sent.on('error', () => outgoing.destroy())
  outgoing.on('close', () => sent.destroy())
  incoming.pipe(sent)
}

async function stop(code, why) {
  if (why !== undefined) console.error(`npm run dev: ${why}`)
  await server.stop()
  await vite.close()
  process.exit(code)
}
