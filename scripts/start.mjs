// `npm start`: install what is missing, build what is stale, serve. The server runs in this process: no second start-up.
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'
import { stopWithShell } from './parent.mjs'

stopWithShell()
ensureInstalled('serving')
await ensureBuilt('serving')
const { main } = await import('../packages/cli/dist/main.js')
// Here, `./agents` is the sources of the examples: serve what was built of them.
process.exitCode = await main(process.argv.slice(2), `${root}packages/cli/agents`)
