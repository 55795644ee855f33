import type {} from '@fastify/swagger'
import { memoryLog } from '@millrace/core'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test, vi } from 'vitest'
import { memoryEvalStore } from '../eval/eval-store.ts'
import { runEngine } from '../run/engine.ts'
import { streams } from '../stream/streams.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { viewReads } from '../view/view-reads.ts'
import { createApp } from './app.ts'
import { defaultDisconnect, defaultLimits } from './deps.ts'
import type { Access } from './doors/access.ts'
import { sharesWith } from './shares.ts'
import { documented, hidden, type RouteEffect, type Surface } from './surface.ts'

function appWith(surfaces: readonly Surface[], access: Access = {}, runsPerMinute = 120): Promise<FastifyInstance> {
  const log = memoryLog(Date.now)
  const parts = { log, now: Date.now, newId: () => 'id' }
  const engine = runEngine({ ...parts, agents: () => undefined, owner: 'test' })
  const fanOut = streams({ log, dialects: [] })
  const deps = {
    ...parts,
    engine,
    streams: fanOut,
    agents: { names: [], get: () => undefined, fallback: '' },
    limits: { ...defaultLimits, shares: sharesWith({ starts: { user: runsPerMinute } }) },
    disconnect: defaultDisconnect,
    audit: () => undefined,
    evals: memoryEvalStore(),
    views: viewReads(log, defaultLimits),
    version: 'test',
    metrics: createMetrics({ activeRuns: () => engine.active, readers: () => fanOut.readers }),
    ready: () => true,
    stopped: () => false,
    access,
  }
  return createApp(deps, surfaces)
}

const toy = (effect: RouteEffect): Surface => ({
  tag: 'Toy',
  routes: () => async (app) => {
    app.get('/toy', hidden(effect), async () => 'played')
  },
})

const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

describe('a surface', () => {
  test('with a route that declares no effect fails the building of the app', async () => {
    const undeclared: Surface = {
      tag: 'Toy',
      routes: () => async (app) => {
        app.get('/forgotten', async () => '')
      },
    }
    await expect(appWith([undeclared])).rejects.toThrow('route GET /forgotten does not declare its effect')
  })

  test('with an open route that acts fails the building of the app', async () => {
    await expect(appWith([toy({ effect: 'write', open: true })])).rejects.toThrow('GET /toy is open')
  })

  test('may take as long to start as a busy machine needs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const slow: Surface = { tag: 'Toy', routes: () => async () => void vi.advanceTimersByTime(3_600_000) }
    try {
      await expect(appWith([slow])).resolves.toBeDefined()
    } finally {
      vi.useRealTimers()
    }
  })

  test('is what every route belongs to', async () => {
    const app = await appWith([])
    expect(() => app.get('/late', hidden({ effect: 'read' }), async () => '')).toThrow(
      'GET /late belongs to no surface',
    )
  })

  test.each<[string, RouteEffect, number]>([
    ['reads', { effect: 'read' }, 200],
    ['writes', { effect: 'write' }, 403],
    ['starts a run', { effect: 'start' }, 403],
    ['streams', { effect: 'read', stream: true }, 403],
  ])('a link on another site to a GET that %s', async (_name, effect, status) => {
    const app = await appWith([toy(effect)])
    const own = await app.inject({ url: '/toy', headers: { host: 'localhost' } })
    const foreign = await app.inject({ url: '/toy', headers: { host: 'localhost', ...link } })
    const encoded = await app.inject({ url: '/t%6fy', headers: { host: 'localhost', ...link } })
    expect([own.statusCode, foreign.statusCode, encoded.statusCode]).toEqual([200, status, status])
  })

  test('needs a token for each route that is not open', async () => {
    const access = { tokens: new Map([['a-long-token', 'ada']]) }
    const ask = async (effect: RouteEffect) =>
      (await (await appWith([toy(effect)], access)).inject({ url: '/toy', headers: { host: 'localhost' } })).statusCode
    expect(await ask({ effect: 'read' })).toBe(401)
    expect(await ask({ effect: 'read', open: true })).toBe(200)
  })

  test('has its starts counted, and nothing else', async () => {
    const statuses = async (effect: RouteEffect) => {
      const app = await appWith([toy(effect)], {}, 1)
      const ask = () => app.inject({ url: '/toy', headers: { host: 'localhost' } })
      return [(await ask()).statusCode, (await ask()).statusCode]
    }
    expect(await statuses({ effect: 'start' })).toEqual([200, 429])
    expect(await statuses({ effect: 'write' })).toEqual([200, 200])
  })

  test('names its group in the OpenAPI document and the type of its problems', async () => {
    const surface: Surface = {
      tag: 'Toy',
      about: 'A toy',
      problemType: 'application/json',
      routes: () => async (app) => {
        app.get('/toy', documented({ effect: 'read', summary: 'Play', answer: 'Fun' }), async () => {
          throw new Error('broken')
        })
      },
    }
    const app = await appWith([surface])
    const problem = await app.inject({ url: '/toy', headers: { host: 'localhost' } })
    expect(problem.headers['content-type']).toBe('application/json; charset=utf-8')
    await app.ready()
    const { tags, paths } = app.swagger()
    expect(tags).toEqual([{ name: 'Toy', description: 'A toy' }])
    expect(paths?.['/toy']).toMatchObject({ get: { tags: ['Toy'] } })
  })
})
