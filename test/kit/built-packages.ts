import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { packedFolder } from '../../scripts/pack.mjs'

const packer = fileURLToPath(new URL('../../scripts/pack.mjs', import.meta.url))

/** The command as it ships. */
export const packedMain = `${packedFolder}/node_modules/millrace/dist/main.js`

/** The example agents as they ship. */
export const exampleAgents = `${packedFolder}/node_modules/millrace/agents`

/** Builds and packs what is stale, once before the first test, so that no test judges yesterday's sources. */
export default async function packages(): Promise<void> {
  // The compiler prints its errors on stdout.
  const stdio = ['ignore', process.stderr, process.stderr] as const
  const [code] = await once(spawn(process.execPath, [packer], { stdio: [...stdio] }), 'exit')
  if (code !== 0) throw new Error(`the build failed with exit code ${code}: run npm run build to see why`)
}
