import { createHash } from 'node:crypto'
import { MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { hidden } from '../surface.ts'

const reason = 'This server has no live audio and video: use the chat'

/** RFC 6455: the key that proves that a server understood the handshake. */
const proof = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * `/run_live` is ADK's two-way audio. adk-web shows the reason of a closed WebSocket, but not that of a refused
 * handshake, so the handshake is accepted and the socket closed with a reason (1011: the server cannot continue).
 */
export const adkLiveRoute: FastifyPluginAsync = async (app) => {
  app.get('/run_live', { ...hidden({ effect: 'read' }), exposeHeadRoute: false }, async (request, reply) => {
    const key = request.headers['sec-websocket-key']
    const { socket } = reply.raw
    if (request.headers.upgrade?.toLowerCase() !== 'websocket' || key === undefined || socket === null)
      throw new MillraceError('not-found', reason)
    reply.hijack()
    const accept = createHash('sha1').update(`${key}${proof}`).digest('base64')
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
        `sec-websocket-accept: ${accept}\r\n\r\n`,
    )
    const text = Buffer.from(reason)
    socket.end(Buffer.concat([Buffer.from([0x88, text.length + 2, 1011 >> 8, 1011 & 0xff]), text]))
  })
}
