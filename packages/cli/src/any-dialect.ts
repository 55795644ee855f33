import { type Decoder, type Dialect, type DialectName, detectDialect, dialects, type Frame } from '@millrace/core'

/** Frames after which a dialect is decided, if none was clear before. */
const enough = 3

/** A dialect for reading only: it finds out by the first frames which one the stream speaks, and holds them until then. */
export function anyDialect(onDetected: (name: DialectName) => void = () => {}): Dialect {
  return {
    name: 'any',
    decoder(options) {
      let found: Decoder | undefined
      let held: Frame[] = []
      const settle = (frames: number): readonly Frame[] => {
        const name = held.length >= frames ? detectDialect(held) : undefined
        if (name === undefined) return []
        onDetected(name)
        found = dialects[name].decoder(options)
        const waiting = held
        held = []
        return waiting
      }
      return {
        push(frame) {
          if (found !== undefined) return found.push(frame)
          held.push(frame)
          return settle(enough).flatMap((each) => found?.push(each) ?? [])
        },
        end(how) {
          const drafts = found === undefined ? settle(1).flatMap((each) => found?.push(each) ?? []) : []
          return [...drafts, ...(found?.end(how) ?? [])]
        },
        get session() {
          return found?.session
        },
      }
    },
    encoder: () => {
      throw new Error('only a dialect that is known can be written')
    },
    recognises: () => false,
  }
}

/** The same dialect; every frame that is read is shown to `onFrame` first. */
export function watchedDialect(dialect: Dialect, onFrame: (frame: Frame) => void): Dialect {
  return {
    ...dialect,
    decoder(options) {
      const inner = dialect.decoder(options)
      return {
        push(frame) {
          onFrame(frame)
          return inner.push(frame)
        },
        end: (how) => inner.end(how),
        get session() {
          return inner.session
        },
      }
    },
  }
}
