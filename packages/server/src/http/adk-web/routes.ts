import { readFile } from 'node:fs/promises'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { hidden, type Surface, type SurfaceDeps } from '../surface.ts'

/**
 * What adk-web loads, besides files of its own: Google's fonts and icons, and WebAssembly that draws graphs. The hash is
 * that of the handler `this.media='all'`, by which its page loads the style sheet.
 */
const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval' 'unsafe-hashes' 'sha256-MhtPZXr7+LpJUY5qtMutB+qWfQtMaPccfe7QXtCcEYc='",
  "style-src 'self' 'unsafe-inline' https://fonts.googleapis.com",
  "font-src 'self' data: https://fonts.gstatic.com",
  "img-src 'self' data: blob: https:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
].join(';')

/** Google's adk-web, as its package ships it, at the path where ADK's own servers have it. */
const adkWebRoutes =
  ({ adkWeb, basePath }: SurfaceDeps): FastifyPluginAsync =>
  async (app) => {
    if (adkWeb === undefined) return
    const html = await readFile(`${adkWeb}/index.html`, 'utf8')
    // The page holds no data.
    const open = hidden({ effect: 'read', open: true })
    await app.register(fastifyStatic, { root: adkWeb, serve: false, cacheControl: false })
    const sendPage = (reply: FastifyReply): FastifyReply =>
      reply
        .header('content-security-policy', policy)
        .header('cache-control', 'no-cache')
        .type('text/html; charset=utf-8')
        .send(html)
    app.get('/dev-ui', open, async (_request, reply) => reply.redirect(`${basePath}/dev-ui/`, 308))
    app.get('/dev-ui/', open, async (_request, reply) => sendPage(reply))
    app.get('/dev-ui/index.html', open, async (_request, reply) => sendPage(reply))
    app.get('/dev-ui/assets/config/runtime-config.json', open, async (_request, reply) =>
      reply.header('cache-control', 'no-cache').send({ backendUrl: basePath, telemetry: false }),
    )
    app.get<{ Params: { '*': string } }>('/dev-ui/*', open, async ({ params }, reply) => reply.sendFile(params['*']))
  }

export const adkWebSurface: Surface = { tag: 'adk-web', routes: adkWebRoutes }
