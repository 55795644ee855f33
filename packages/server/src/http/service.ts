import type { FastifyPluginAsync } from 'fastify'

export const serviceRoutes =
  ({ version }: { readonly version: string }): FastifyPluginAsync =>
  async (app) => {
    app.get('/health', async () => ({ status: 'ok', version }))
  }
