import { readFile } from 'node:fs/promises'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** The studio page, as Vite built it. Hashed assets never change; index.html always may. */
export const pageRoutes =
  ({ page, basePath = '' }: { readonly page: string; readonly basePath?: string }): FastifyPluginAsync =>
  async (app) => {
    const html = await readFile(`${page}/index.html`, 'utf8')
    // The base tells the page where its root is, so that it works under any path prefix, also on a deep link.
    const at = (base: string): string => html.replace('<head>', `<head><base href="${base}">`)
    const hidden = { schema: { hide: true } }
    await app.register(fastifyStatic, {
      root: `${page}/assets`,
      prefix: '/assets/',
      cacheControl: false,
      schemaHide: true,
      setHeaders: (reply) => reply.setHeader('cache-control', 'public, max-age=31536000, immutable'),
    })
    app.get('/', hidden, async (request, reply) => {
      // Relative links of a page at `/prefix` would lead to the root; at `/prefix/` they stay inside.
      if (basePath !== '' && request.originalUrl.split('?', 1)[0] === basePath)
        return reply.redirect(`${basePath}/`, 308)
      return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(at('./'))
    })
    app.get('/s/:session', hidden, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(at('../')),
    )
  }

/** The page needs its own files and inline styles of the graph library, data: images, and nothing else. */
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
  crossOriginEmbedderPolicy: false,
  strictTransportSecurity: false,
} as const
