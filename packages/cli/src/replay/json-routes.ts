import { isObject } from '@millrace/core'

/** What clients ask before and after a run; undefined for a route that they do not need. */
export function jsonAnswer(
  method: string,
  path: string,
  { agent }: { readonly agent: string },
  body: unknown,
): unknown {
  if (method === 'GET' && path === '/health') return { status: 'ok' }
  if (method === 'GET' && path === '/list-apps') return [agent]
  if (method === 'GET' && path === '/agents') return [{ name: agent, engine: 'replay', description: '' }]
  const [, app, user, id] = /\/apps\/([^/]+)\/users\/([^/]+)\/sessions(?:\/([^/]+))?$/.exec(path) ?? []
  if (app !== undefined && user !== undefined) return adkSession(method, { app, user, id }, body)
  if (method === 'POST' && path.endsWith('/sessions')) return { id: 'replay', agent }
  return undefined
}

function adkSession(
  method: string,
  { app, user, id }: { readonly app: string; readonly user: string; readonly id: string | undefined },
  body: unknown,
): unknown {
  if (method === 'GET' && id === undefined) return []
  const asked = isObject(body) && typeof body.sessionId === 'string' ? body.sessionId : undefined
  const names = { id: id ?? asked ?? 'replay', appName: decodeURIComponent(app), userId: decodeURIComponent(user) }
  return { ...names, state: {}, events: [], lastUpdateTime: 0 }
}
