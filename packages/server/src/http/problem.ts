import { MillraceError, type ProblemCode } from '@millrace/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** The only place that knows which code is which status. */
const statusOf: Readonly<Record<ProblemCode, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  busy: 409,
  'lease-lost': 409,
  cancelled: 409,
  limit: 429,
  garbage: 500,
  'agent-error': 500,
  crashed: 500,
  internal: 500,
  'store-failed': 500,
  'model-error': 502,
  'remote-error': 502,
  cut: 502,
  unavailable: 503,
  timeout: 504,
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Clients of this surface parse no other type (official AG-UI client, adk-web): problems go out as this. */
    problemType?: 'application/json'
  }
}

/** RFC 9457 problem details. */
interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  /** The path of every bad field. */
  readonly errors?: readonly unknown[]
  /** What adk-web and the Python peers read. */
  readonly error: string
}

function problemDetails(error: unknown): ProblemDetails {
  if (error instanceof MillraceError) {
    const status = typeof error.facts.status === 'number' ? error.facts.status : statusOf[error.code]
    return details(error.code, status, error.message, error.facts.errors)
  }
  const { statusCode, message } = error as Partial<FastifyError>
  // Fastify's own refusals (body too large, unsupported type) carry a 4xx; anything else is our fault and stays private.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return details(statusCode === 429 ? 'limit' : 'invalid', statusCode, message ?? 'bad request')
  }
  return details('internal', 500, 'the server failed to handle this request')
}

function details(code: ProblemCode, status: number, detail: string, errors?: unknown): ProblemDetails {
  return {
    type: `urn:millrace:problem:${code}`,
    title: code.replace('-', ' '),
    status,
    detail,
    code,
    error: detail,
    ...(Array.isArray(errors) ? { errors } : {}),
  }
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body = problemDetails(error)
  if (body.status >= 500) request.log.error({ err: error }, 'request failed')
  if (body.status === 401) reply.header('www-authenticate', 'Bearer')
  if (body.status === 429 || body.status === 503) {
    const facts = error instanceof MillraceError ? error.facts : {}
    const seconds = typeof facts.retryAfter === 'number' ? facts.retryAfter : 5
    if (!reply.hasHeader('retry-after')) reply.header('retry-after', String(seconds))
  }
  const type = request.routeOptions?.config?.problemType ?? 'application/problem+json'
  return reply.code(body.status).type(`${type}; charset=utf-8`).send(JSON.stringify(body))
}
