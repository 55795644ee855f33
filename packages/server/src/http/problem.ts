import { MillraceError, type ProblemCode } from '@millrace/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** The only place that knows which code is which status. */
export const statusOf: Readonly<Record<ProblemCode, number>> = {
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
  unavailable: 503,
  timeout: 504,
}

/** RFC 9457 problem details. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  /** For `invalid`: the path of every bad field. */
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
}

export function problemDetails(error: unknown): ProblemDetails {
  if (error instanceof MillraceError) {
    const status = typeof error.facts.status === 'number' ? error.facts.status : statusOf[error.code]
    return details(error.code, status, error.message, error.facts.errors)
  }
  const { statusCode, message } = error as Partial<FastifyError>
  // Fastify's own refusals (body too large, bad JSON, unsupported type) carry a 4xx; anything else is our fault.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return details(statusCode === 429 ? 'limit' : 'invalid', statusCode, message ?? 'bad request')
  }
  return details('internal', 500, 'the server failed to handle this request')
}

function details(code: ProblemCode, status: number, detail: string, errors?: unknown): ProblemDetails {
  const listed = Array.isArray(errors) ? { errors: errors as ProblemDetails['errors'] & object } : {}
  return {
    type: `https://millrace.dev/problems/${code}`,
    title: code.replace('-', ' '),
    status,
    detail,
    code,
    ...listed,
  }
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body = problemDetails(error)
  if (body.status >= 500) request.log.error({ err: error }, 'request failed')
  return reply.code(body.status).type('application/problem+json; charset=utf-8').send(body)
}
