import { readFile } from 'node:fs/promises'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { UnknownPage } from '../doors/methods.ts'
import { hidden, type Surface, type SurfaceDeps } from '../surface.ts'

/** The studio page, as Vite built it. Hashed assets never change; index.html may change with every build. */
const pageRoutes =
  ({ page, basePath }: SurfaceDeps): FastifyPluginAsync =>
  async (app) => {
    if (page === undefined) return
    const sendPage = await pageSender(page)
    // The page holds no data and asks for the token, so it is sent without one.
    const open = hidden({ effect: 'read', open: true })
    await app.register(fastifyStatic, {
      root: `${page}/assets`,
      serve: false,
      cacheControl: false,
      setHeaders: (reply) => reply.setHeader('cache-control', 'public, max-age=31536000, immutable'),
    })
    app.get<{ Params: { '*': string } }>('/assets/*', open, async ({ params }, reply) => reply.sendFile(params['*']))
    app.get('/', open, async (request, reply) => {
      // Relative links of a page at `/prefix` would lead to the root; at `/prefix/` they stay inside.
      if (basePath !== '' && request.originalUrl.split('?', 1)[0] === basePath)
        return reply.redirect(`${basePath}/`, 308)
      return sendPage(reply, './')
    })
    app.get('/s/:session', open, async (_request, reply) => sendPage(reply, '../'))
  }

/** Sends index.html. The base is where the page finds its root, so that it works under any prefix and on a deep link. */
async function pageSender(page: string): Promise<(reply: FastifyReply, base: string) => FastifyReply> {
  const html = await readFile(`${page}/index.html`, 'utf8')
  return (reply, base) =>
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(html.replace('<head>', `<head><base href="${base}">`))
}

/** The page with status 404, for an address that is none of this server. */
export async function unknownPage(page: string): Promise<UnknownPage> {
  const sendPage = await pageSender(page)
  return (path, reply) => sendPage(reply.code(404), '../'.repeat(path.split('/').length - 2) || './')
}

export const pageSurface: Surface = { tag: 'Page', routes: pageRoutes }

/** The page loads its own files, inline styles of the graph library and `data:` images, and nothing else. */
export const pagePolicy = {
  contentSecurityPolicy: {
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      workerSrc: ["'self'", 'blob:'],
      objectSrc: ["'none'"],
      frameAncestors: ["'none'"],
      baseUri: ["'self'"],
      formAction: ["'self'"],
      upgradeInsecureRequests: null,
    },
  },
  // A browser that sends no `Sec-Fetch-Site` shows by `Referer` that our own page asks (`doors/same-site.ts`).
  referrerPolicy: { policy: 'same-origin' },
  crossOriginEmbedderPolicy: false,
  strictTransportSecurity: false,
} as const
