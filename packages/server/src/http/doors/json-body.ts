import { MillraceError } from '@millrace/core'
import type { FastifyInstance } from 'fastify'
import { refuse } from './problem.ts'

/** No real message nests deeper than this, and recursive code that reads the body could overflow. */
export const maxBodyDepth = 64

/** Values of a body. Each takes 30 to 100 bytes once it is parsed: 60 MB of empty lists would take a gigabyte. */
const maxBodyNodes = 2 ** 21

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON bodies. Invalid UTF-8, too much depth, `__proto__` and `constructor.prototype` are answered with 400. */
export function readJsonBodies(app: FastifyInstance): void {
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    let text: string
    try {
      text = utf8.decode(body as Buffer)
    } catch {
      done(new MillraceError('invalid', 'the body is not valid UTF-8'))
      return
    }
    try {
      done(null, parseJsonBody(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** The value of a JSON body; undefined for an empty one. */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return undefined
  const { depth, nodes } = jsonShape(text)
  if (depth > maxBodyDepth) throw unacceptable(`the body nests deeper than ${maxBodyDepth} levels`)
  if (nodes > maxBodyNodes) throw refuse('too-large', `the body holds more than ${maxBodyNodes} values`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unacceptable(`the body is not acceptable JSON: ${error instanceof Error ? error.message : ''}`)
  }
  // A name may be written with escapes.
  if (/__proto__|constructor|\\u/.test(text) && changesPrototype(value))
    throw unacceptable('the body is not acceptable JSON: Object contains forbidden prototype property')
  return value
}

function unacceptable(message: string): MillraceError {
  return new MillraceError('invalid', message, { http: 'invalid' })
}

/** Whether an object has `__proto__`, or a `constructor` with a `prototype`: code that copies it could change all objects. */
function changesPrototype(value: unknown): boolean {
  const open: unknown[] = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    const { constructor: made } = next as { constructor: unknown }
    if (
      Object.hasOwn(next, 'constructor') &&
      typeof made === 'object' &&
      made !== null &&
      Object.hasOwn(made, 'prototype')
    )
      return true
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) open.push(inner)
  }
  return false
}

/** How deep a JSON text nests. */
export function jsonDepth(text: string): number {
  return jsonShape(text).depth
}

/**
 * How deep a JSON text nests and about how many values it holds, found by counting brackets and commas outside strings,
 * without parsing it. It stops where the body is refused anyway.
 */
function jsonShape(text: string): { readonly depth: number; readonly nodes: number } {
  let depth = 0
  let deepest = 0
  let nodes = 1
  for (let i = 0; i < text.length && nodes <= maxBodyNodes; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34; i++) if (text.charCodeAt(i) === 92) i++
    } else if (code === 44) nodes++
    else if (code === 123 || code === 91) {
      nodes++
      depth++
      if (depth > deepest) deepest = depth
    } else if (code === 125 || code === 93) depth--
  }
  return { depth: deepest, nodes }
}
