// TypeScript of this tree in a script: loaded by Vite, from sources, without a build.
import { root } from './install.mjs'

/** Loads files of the tree (`/bench/page.ts`) for as long as `work` takes. */
export async function withSources(work) {
  const { createServer } = await import('vite')
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
  try {
    return await work((file) => vite.ssrLoadModule(file))
  } finally {
    await vite.close()
  }
}
