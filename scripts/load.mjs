// TypeScript of this tree in a script: loaded by Vite, without a build.
import { root } from './install.mjs'

/**
 * Loads files of the tree (`/bench/page.ts`) for as long as `work` takes. Our packages are their sources; with
 * MILLRACE_PACKED=1 they are the packages that ship.
 */
export async function withSources(work) {
  const { createServer } = await import('vite')
  const vite = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
    ...(process.env.MILLRACE_PACKED === '1' ? await onPackages() : onSources()),
  })
  try {
    return await work((file) => vite.ssrLoadModule(file))
  } finally {
    await vite.close()
  }
}

function onSources() {
  const conditions = ['source']
  return { ssr: { resolve: { conditions, externalConditions: conditions } } }
}

async function onPackages() {
  const { packedImports } = await import('./packed-imports.mjs')
  return { plugins: [packedImports()] }
}
