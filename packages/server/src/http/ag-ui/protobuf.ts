import { createRequire } from 'node:module'
import type { EventEncoder } from '@ag-ui/encoder'
import { type AgUiProtocol, agUi } from '@millrace/core'
import type { StreamFormat } from '../../stream/stream-format.ts'
import { withoutCheckpoints } from '../session/without-checkpoints.ts'

/** The official client reads protobuf only when the answer's type is exactly this. */
export const agUiProtobuf = 'application/vnd.ag-ui.event+proto'

/** Loaded by the first client who asks: its schemas cost a fifth of a second, and a start must not pay for them. */
let made: EventEncoder | undefined
function encoder(): EventEncoder {
  if (made !== undefined) return made
  const load = createRequire(import.meta.url)
  // The class gets a name first: TypeScript 7.0 emits `new (load() as T).EventEncoder()` without its parentheses.
  const { EventEncoder } = load('@ag-ui/encoder') as typeof import('@ag-ui/encoder')
  made = new EventEncoder({ accept: agUiProtobuf })
  return made
}

/** AG-UI as length-prefixed protobuf messages. It has no place for a cursor: a client that wants to re-join uses SSE. */
export const agUiProtobufFormat = (protocol: AgUiProtocol): StreamFormat => ({
  encoder: (options) => withoutCheckpoints(agUi).encoder({ ...options, protocol }),
  print: (frame) => (frame.data === '' ? '' : encoder().encodeProtobuf(JSON.parse(frame.data))),
  opening: '',
  heartbeat: '',
})
