import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** The studio page, as Vite built it. Hashed assets never change; index.html always may. */
export const pageRoutes =
  ({ page }: { readonly page: string }): FastifyPluginAsync =>
  async (app) => {
    await app.register(fastifyStatic, {
      root: page,
      cacheControl: false,
      setHeaders: (reply, path) => {
        const hashed = path.includes('/assets/')
        reply.setHeader('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
  }
