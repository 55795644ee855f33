import { MillraceError, type ProblemCode } from '@millrace/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { publicMessage } from '../../run/ending.ts'
import { factsOf } from './request-log.ts'

/** The codes of a log's problems, and those that only HTTP has. */
type HttpCode =
  | ProblemCode
  | 'method-not-allowed'
  | 'request-timeout'
  | 'too-large'
  | 'url-too-long'
  | 'unsupported-type'
  | 'unprocessable'
  | 'headers-too-large'
  | 'no-room'

/** The one table from code to status (SPEC 6.1). */
const statusOf: Readonly<Record<HttpCode, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  conflict: 409,
  busy: 409,
  'lease-lost': 409,
  cancelled: 409,
  'too-large': 413,
  'url-too-long': 414,
  'unsupported-type': 415,
  unprocessable: 422,
  limit: 429,
  'headers-too-large': 431,
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
  'no-room': 507,
}

/** Every code a problem may have, for the OpenAPI document. */
export const httpCodes: readonly string[] = Object.keys(statusOf)

/** RFC 9457 problem details. */
interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: HttpCode
  /** The path of every bad field. */
  readonly errors?: readonly unknown[]
  /** The same text as `detail`, where adk-web and Python clients look for it. */
  readonly error: string
}

/** An error with a code that only HTTP has. It is thrown like any other; `facts.http` holds the code. */
export function refuse(
  http: Exclude<HttpCode, ProblemCode>,
  detail: string,
  facts: Readonly<Record<string, unknown>> = {},
): MillraceError {
  return new MillraceError('invalid', detail, { ...facts, http })
}

function problemDetails(error: unknown): ProblemDetails {
  if (error instanceof MillraceError) {
    const { http, errors } = error.facts
    if (error.code === 'store-failed' && error.facts.reason === 'full')
      return problemBody('no-room', 'the log is full; delete sessions, or ask the operator for room')
    return problemBody(isHttpCode(http) ? http : error.code, publicMessage(error), errors)
  }
  const { statusCode, message } = error as Partial<FastifyError>
  // Fastify's own errors (body too large, unsupported type) have a 4xx; the message of anything else stays private.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return problemBody(codeOf(statusCode), message ?? 'bad request')
  return problemBody('internal', 'the server failed to handle this request')
}

/** The first code with this status; a client error without one of its own is `invalid`. */
export function codeOf(status: number): HttpCode {
  return httpCodes.filter(isHttpCode).find((code) => statusOf[code] === status) ?? 'invalid'
}

const isHttpCode = (code: unknown): code is HttpCode => typeof code === 'string' && Object.hasOwn(statusOf, code)

export function problemBody(code: HttpCode, detail: string, errors?: unknown): ProblemDetails {
  return {
    type: `urn:millrace:problem:${code}`,
    title: code.replaceAll('-', ' '),
    status: statusOf[code],
    detail,
    code,
    error: detail,
    ...(Array.isArray(errors) ? { errors } : {}),
  }
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body, type } = prepareProblem(error, request, reply)
  return reply.type(`${type}; charset=utf-8`).send(JSON.stringify(body))
}

/** The problem as the only frame of an event stream, for clients that read nothing else of an answer. */
export function streamProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body } = prepareProblem(error, request, reply)
  return reply.type('text/event-stream').send(`data: ${JSON.stringify(body)}\n\n`)
}

/** Sets the status and the headers of a problem. */
function prepareProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): { readonly body: ProblemDetails; readonly type: unknown } {
  const body = problemDetails(error)
  if (body.status >= 500) request.log.error({ err: error, ...factsOf(request) }, 'request failed')
  const facts = error instanceof MillraceError ? error.facts : {}
  if (body.status === 401) reply.header('www-authenticate', 'Bearer')
  if (typeof facts.allow === 'string') reply.header('allow', facts.allow)
  if (body.status === 429 || body.status === 503 || body.status === 507) {
    const seconds = typeof facts.retryAfter === 'number' ? facts.retryAfter : 5
    if (!reply.hasHeader('retry-after')) reply.header('retry-after', String(seconds))
  }
  const type = facts.type ?? request.routeOptions?.config?.surface?.problemType ?? 'application/problem+json'
  reply.code(body.status)
  return { body, type }
}
