import { createRequire } from 'node:module'
import type { EventEncoder } from '@ag-ui/encoder'
import { type AgUiProtocol, agUi } from '@millrace/core'
import type { StreamFormat } from '../../stream/stream-format.ts'
import { withoutCheckpoints } from '../session/without-checkpoints.ts'

/** The official client reads protobuf only when the content type of the answer is exactly this. */
export const agUiProtobuf = 'application/vnd.ag-ui.event+proto'

/** Loaded for the first client that asks: its schemas take 0.2 s to load, which would slow every start. */
let made: EventEncoder | undefined
function encoder(): EventEncoder {
  if (made !== undefined) return made
  const load = createRequire(import.meta.url)
  // In two statements, because TypeScript 7.0 emits `new (load() as T).EventEncoder()` without its parentheses.
  const { EventEncoder } = load('@ag-ui/encoder') as typeof import('@ag-ui/encoder')
  made = new EventEncoder({ accept: agUiProtobuf })
  return made
}

/** AG-UI as length-prefixed protobuf messages. They have no field for a cursor: to re-join, a client uses SSE. */
export const agUiProtobufFormat = (protocol: AgUiProtocol): StreamFormat => ({
  encoder: (options) => withoutCheckpoints(agUi).encoder({ ...options, protocol }),
  print: (frame) => (frame.data === '' ? '' : encoder().encodeProtobuf(JSON.parse(frame.data))),
  opening: '',
  heartbeat: '',
})
