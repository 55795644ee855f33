import { MillraceError } from '@millrace/core'
import type { FastifyInstance } from 'fastify'

/** No real message nests deeper than this, and recursive code that reads the body could overflow. */
export const maxBodyDepth = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses JSON bodies. Invalid UTF-8, too much depth, `__proto__` and `constructor.prototype` are answered with 400. */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string
    try {
      text = utf8.decode(body as Buffer)
    } catch {
      done(new MillraceError('invalid', 'the body is not valid UTF-8'))
      return
    }
    if (text.trim() === '') {
      done(null, undefined)
      return
    }
    if (jsonDepth(text) > maxBodyDepth) {
      done(new MillraceError('invalid', `the body nests deeper than ${maxBodyDepth} levels`))
      return
    }
    void parse(request, text, (error, value) => {
      if (error === null) done(null, value)
      else done(new MillraceError('invalid', `the body is not acceptable JSON: ${error.message}`))
    })
  })
}

/** How deep a JSON text nests, found by counting brackets outside strings, without parsing it. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) i++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 123 || code === 91) {
      depth++
      if (depth > deepest) deepest = depth
    } else if (code === 125 || code === 93) depth--
  }
  return deepest
}
