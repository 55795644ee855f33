import type { FastifyContextConfig, FastifyInstance, FastifyPluginAsync, RouteOptions } from 'fastify'
import type { z } from 'zod'
import type { Metrics } from '../telemetry/metrics.ts'
import type { HttpDeps } from './deps.ts'
import type { Identities } from './doors/identity.ts'
import type { Everyone } from './everyone.ts'

/** One API on the shared port: a dialect's own routes, the sessions, the page. `app.ts` lists all of them. */
export interface Surface {
  /** Groups its routes in the OpenAPI document. */
  readonly tag: string
  /** Describes the group. A surface without a description has no route in the document. */
  readonly about?: string
  /** The media type of problems, for clients that parse no other (the official AG-UI client, adk-web). */
  readonly problemType?: string
  readonly routes: (deps: SurfaceDeps) => FastifyPluginAsync
}

export interface SurfaceDeps extends HttpDeps {
  readonly version: string
  readonly metrics: Metrics
  /** False while the server starts or shuts down, so that a load balancer sends no requests. */
  readonly ready: () => boolean
  /** Why the server takes no new work now, for a load balancer; undefined when it does. */
  readonly trouble: () => Promise<string | undefined>
  /** The folder of the built page. Without it no page is served. */
  readonly page?: string
  /** The folder of adk-web's built page. Without it adk-web is not served. */
  readonly adkWeb?: string
  /** The path prefix of a proxy that does not strip it, such as `/millrace`; empty when there is none. */
  readonly basePath: string
  /** Undefined where requests need not prove who they come from. */
  readonly identities: Identities | undefined
  readonly everyone: Everyone
}

/** What the checks in front of a route need to know about it. */
export interface RouteEffect {
  /** `read` changes nothing. `write` may change something. `start` may start a run, and counts against the user's rate. */
  readonly effect: 'read' | 'write' | 'start'
  /** The answer is an event stream. */
  readonly stream?: boolean
  /** The route answers without a token. Only a route that reads may be open. */
  readonly open?: boolean
  /** Only operators may use the route, where requests must prove who they come from. */
  readonly operator?: boolean
  /** The request sends a token to sign in: wrong ones are counted, so that tokens cannot be guessed. */
  readonly signsIn?: boolean
  /** What the request counts as, where that is not clear from the rest; `none`: it is answered at any time. */
  readonly share?: 'imports' | 'forks' | 'none'
  /** The route reads all rows of a session into memory: a bounded number of such requests is at work at once. */
  readonly whole?: boolean
}

/** A route as the OpenAPI document describes it. */
export interface RouteDoc extends RouteEffect {
  readonly summary: string
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  /** Describes a good answer; a stream names its dialect. */
  readonly answer: string
  /** The shape of a JSON answer. */
  readonly result?: z.ZodType | Readonly<Record<string, unknown>>
  /** The media type of an answer that is neither JSON nor a stream. */
  readonly type?: string
  readonly status?: number
  /** Media types of a stream besides SSE. */
  readonly streamTypes?: readonly string[]
  /** Media types of bodies besides JSON. */
  readonly takes?: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    effect?: RouteEffect
    doc?: RouteDoc
    surface?: Surface
  }
  interface FastifyInstance {
    surface?: Surface
  }
}

/** Declares a route of the documented API. */
export function documented(doc: RouteDoc): { config: FastifyContextConfig } {
  return { config: { effect: doc, doc } }
}

/** Declares a route that answers but is left out of the OpenAPI document. */
export function hidden(effect: RouteEffect): { config: FastifyContextConfig; schema: { hide: true } } {
  return { config: { effect }, schema: { hide: true } }
}

/**
 * Makes the building of the app fail on a route without a surface or without a declaration. Access, the rate limit and
 * the document read declarations, so no route can be forgotten by them. Must be called before any route is registered.
 */
export function requireDeclarations(app: FastifyInstance): void {
  app.addHook('onRoute', function (route) {
    // The CORS plugin answers every preflight with this one route.
    if (route.url === '*' && route.method === 'OPTIONS') return
    const name = `${[route.method].flat().join(', ')} ${route.url}`
    const { effect } = route.config ?? {}
    if (effect === undefined)
      throw new Error(
        `route ${name} does not declare its effect; pass documented({ effect: 'read' | 'write' | 'start', … }) or hidden({ effect })`,
      )
    if (effect.open === true && effect.effect !== 'read')
      throw new Error(`route ${name} is open but does not only read; remove \`open\``)
    if (this.surface === undefined)
      throw new Error(`route ${name} belongs to no surface; add it to a surface that app.ts lists`)
    stamp(route, this.surface)
  })
}

function stamp(route: RouteOptions, surface: Surface): void {
  route.config = { ...route.config, surface }
}

/** Registers the routes of a surface; each of them knows the surface from then on. */
export async function registerSurface(app: FastifyInstance, surface: Surface, deps: SurfaceDeps): Promise<void> {
  await app.register(async (scope) => {
    scope.decorate('surface', surface)
    await scope.register(surface.routes(deps))
  })
}
