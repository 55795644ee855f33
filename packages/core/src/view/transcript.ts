import type { Recorded } from '../event/run-event.ts'
import { partsOf, textOf } from './parts.ts'
import type { View } from './view.ts'

export interface Message {
  readonly id: string
  readonly author: string
  readonly text: string
  readonly done: boolean
  readonly seq: number
}

export interface Transcript {
  readonly messages: readonly Message[]
  readonly unread: readonly { readonly seq: number; readonly raw: string; readonly reason: string }[]
}

/** What was said, by whom. Partials stream; the aggregate replaces them, so text never comes out doubled. */
export const transcript: View<Transcript> = {
  name: 'transcript',
  initial: { messages: [], unread: [] },
  apply(state, { seq, event }: Recorded) {
    switch (event.kind) {
      case 'foreign':
        return { ...state, unread: [...state.unread, { seq, raw: event.raw, reason: event.reason }] }
      case 'agent': {
        const text = partsOf(event.event.content)
          .map((part) => (part.thought ? '' : textOf(part)))
          .join('')
        const done = event.event.partial !== true
        const at = state.messages.findLastIndex((message) => message.id === event.message)
        const before = state.messages[at]
        if (before === undefined) {
          if (text === '') return state
          return {
            ...state,
            messages: [...state.messages, { id: event.message, author: event.event.author, text, done, seq }],
          }
        }
        return {
          ...state,
          messages: state.messages.with(at, { ...before, text: done ? text : before.text + text, done, seq }),
        }
      }
      default:
        return state
    }
  },
}
