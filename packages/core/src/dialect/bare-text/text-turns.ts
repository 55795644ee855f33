import type { AdkPart } from '../../event/adk-event.ts'
import { partsOf, textOf } from '../../event/parts.ts'
import type { AgentSaid, NodeId } from '../../event/run-event.ts'
import { beginsWith } from '../../json/begins-with.ts'

/** A piece of an agent's text, ready for a wire that has no message ids. */
export interface TextPiece {
  readonly text: string
  readonly thought: boolean
  readonly author: string
  readonly message: string
  readonly node?: NodeId
  readonly task?: string
  /** The message has ended. Only where `marksEnds` asks for it, and then the text is empty. */
  readonly ends?: true
}

/**
 * Lets one message stream at a time. A wire without message ids shows one text, so agents that stream side by side
 * would mix word by word. The text of the others waits, and follows when that message has ended (SPEC 3.5). The
 * aggregate of a streamed message is not printed again, only the text that its partials left out.
 *
 * A lane is one speaker: its messages come one after the other.
 */
export interface TextTurns {
  /** `node`: the speaker of a log that has no nodes. */
  partial(said: AgentSaid, lane: string, node?: NodeId): readonly TextPiece[]
  whole(said: AgentSaid, lane: string): readonly TextPiece[]
  /** The lane is about to do something else: returns its waiting text, which must come first. */
  before(lane: string): readonly TextPiece[]
  /** The lane has ended, whether its message was finished or not. */
  end(lane: string): readonly TextPiece[]
  /** Returns all waiting text. */
  flush(): readonly TextPiece[]
  /** These messages no longer count: their waiting text is dropped. */
  drop(messages: readonly string[]): readonly TextPiece[]
  /** The text printed so far of the message that is streaming. */
  readonly streaming: readonly TextPiece[]
}

export interface TextTurnsOptions {
  /** After its last piece, each message gets an empty one with `ends`. For wires that print less than every piece. */
  readonly marksEnds?: boolean
}

interface Turn {
  readonly lane: string
  /** The length of its partials, printed or waiting: text, then thoughts. */
  readonly streamed: [text: number, thoughts: number]
  /** How much of it was printed before, when it had ended once already. */
  readonly before: readonly [text: number, thoughts: number]
  printed: Growing[]
  waiting: TextPiece[]
  whole: boolean
}

/** A piece whose text grows with each one that is printed after it. */
interface Growing extends TextPiece {
  text: string
}

const nothing = [0, 0] as const
/** A message that comes again after so many others counts as a new one: a run may go on without end. */
const mostOver = 10_000

export function textTurns({ marksEnds = false }: TextTurnsOptions = {}): TextTurns {
  /** Messages that have not ended or still wait, oldest first; the first one that has not ended streams. */
  const turns = new Map<string, Turn>()
  let front: string | undefined
  /** The same by lane, so that finding a lane's messages costs the same however many others wait. */
  const lanes = new Map<string, Map<string, Turn>>()
  /** The one message of each lane that has not ended. */
  const unfinished = new Map<string, string>()
  /** How much was printed of messages that have ended: one that comes again prints only what is new. */
  const over = new Map<string, readonly [text: number, thoughts: number]>()

  const forget = (message: string, { lane }: Turn): void => {
    turns.delete(message)
    const own = lanes.get(lane)
    own?.delete(message)
    if (own?.size === 0) lanes.delete(lane)
    if (unfinished.get(lane) === message) unfinished.delete(lane)
  }
  const finish = (message: string, turn: Turn, pieces: TextPiece[]): void => {
    const { streamed, before } = turn
    forget(message, turn)
    const [oldest] = over.size >= mostOver ? over.keys() : []
    if (oldest !== undefined) over.delete(oldest)
    over.set(message, [before[0] + streamed[0], before[1] + streamed[1]])
    if (marksEnds) pieces.push({ text: '', thought: false, author: '', message, ends: true })
  }
  const release = (turn: Turn): TextPiece[] => {
    const pieces = turn.waiting
    turn.waiting = []
    for (const piece of pieces) print(turn, piece)
    return pieces
  }
  const print = (turn: Turn, piece: TextPiece): void => {
    const last = turn.printed.at(-1)
    if (last?.thought === piece.thought) last.text += piece.text
    else turn.printed.push({ ...piece })
  }
  const next = (): TextPiece[] => {
    const pieces: TextPiece[] = []
    front = undefined
    for (const [message, turn] of turns) {
      for (const piece of release(turn)) pieces.push(piece) // `push(...)` takes no more than a call's arguments
      if (!turn.whole) {
        front = message
        break
      }
      finish(message, turn, pieces)
    }
    return pieces
  }
  const gone = (): TextPiece[] => (front !== undefined && !turns.has(front) ? next() : [])
  const turnOf = (message: string, lane: string): Turn => {
    const known = turns.get(message)
    if (known !== undefined) return known
    const before = over.get(message) ?? nothing
    const turn: Turn = { lane, streamed: [0, 0], before, printed: [], waiting: [], whole: false }
    turns.set(message, turn)
    const own = lanes.get(lane) ?? new Map<string, Turn>()
    lanes.set(lane, own.set(message, turn))
    unfinished.set(lane, message)
    return turn
  }
  const add = (turn: Turn, piece: TextPiece): void => {
    turn.streamed[piece.thought ? 1 : 0] += piece.text.length
    turn.waiting.push(piece)
  }
  /** A lane has one message at a time: an unfinished one has ended when its lane starts another. */
  const abandon = (lane: string, message: string): TextPiece[] => {
    const other = unfinished.get(lane)
    const turn = other === undefined || other === message ? undefined : turns.get(other)
    if (turn !== undefined) {
      turn.whole = true
      unfinished.delete(lane)
    }
    return front !== undefined && turns.get(front)?.whole === true ? next() : []
  }
  const before = (lane: string): TextPiece[] => {
    const pieces: TextPiece[] = []
    for (const [message, turn] of lanes.get(lane) ?? []) {
      for (const piece of release(turn)) pieces.push(piece)
      if (turn.whole) finish(message, turn, pieces)
    }
    return pieces
  }

  return {
    partial(said, lane, node = said.node) {
      const streams = front === said.message ? turns.get(front) : undefined
      if (streams?.lane === lane && streams.waiting.length === 0 && !streams.whole) {
        // Nearly every token is the next one of the message that streams: it neither waits nor ends another.
        const pieces = piecesOf(said, node)
        for (const piece of pieces) {
          streams.streamed[piece.thought ? 1 : 0] += piece.text.length
          print(streams, piece)
        }
        return pieces
      }
      const abandoned = abandon(lane, said.message)
      const turn = turnOf(said.message, lane)
      front ??= said.message
      for (const piece of piecesOf(said, node)) add(turn, piece)
      return front === said.message ? [...abandoned, ...release(turn)] : abandoned
    },
    whole(said, lane) {
      const abandoned = abandon(lane, said.message)
      const pieces = piecesOf(said, said.node)
      if (pieces.length === 0 && !turns.has(said.message)) return abandoned
      const turn = turnOf(said.message, lane)
      for (const piece of leftOut(pieces, turn)) add(turn, piece)
      turn.whole = true
      return front === undefined || front === said.message ? [...abandoned, ...next()] : abandoned
    },
    before,
    end(lane) {
      const pieces = before(lane)
      for (const [message, turn] of lanes.get(lane) ?? []) finish(message, turn, pieces)
      return [...pieces, ...gone()]
    },
    flush() {
      const pieces = [...turns.values()].flatMap(release)
      for (const index of [turns, lanes, unfinished]) index.clear()
      front = undefined
      return pieces
    },
    drop(messages) {
      for (const message of messages) {
        const turn = turns.get(message)
        if (turn !== undefined) forget(message, turn)
      }
      return gone()
    },
    get streaming() {
      return front === undefined ? [] : (turns.get(front)?.printed ?? [])
    },
  }
}

/** What the aggregate adds to its partials: everything if nothing streamed, nothing unless partials were lost. */
function leftOut(pieces: readonly TextPiece[], { streamed, before, printed, waiting }: Turn): TextPiece[] {
  return ([1, 0] as const).flatMap((kind) => {
    const own = pieces.filter((piece) => piece.thought === (kind === 1))
    const text = joined(own)
    const [first] = own
    const known = before[kind] + streamed[kind]
    // Nearly always nothing was left out, and the texts need not be compared.
    if (first === undefined || text.length <= known) return []
    // Of the text printed before, only the length is known.
    const partials = [...printed, ...waiting].filter((piece) => piece.thought === (kind === 1))
    const goesOn = before[kind] > 0 || beginsWith(text, joined(partials))
    return goesOn ? [{ ...first, text: text.slice(known) }] : []
  })
}

function joined(pieces: readonly TextPiece[]): string {
  return pieces.map((piece) => piece.text).join('')
}

function piecesOf(said: AgentSaid, node: NodeId | undefined): readonly TextPiece[] {
  const parts = partsOf(said.event.content)
  const [only] = parts
  // A token is a single part. A list that is made by `push` has room for 17 entries.
  if (only !== undefined && parts.length === 1) return textOf(only) === '' ? none : [pieceOf(said, only, node)]
  return parts.flatMap((part) => (textOf(part) === '' ? [] : [pieceOf(said, part, node)]))
}

function pieceOf({ event, message, task }: AgentSaid, part: AdkPart, node: NodeId | undefined): TextPiece {
  const text = textOf(part)
  const thought = part.thought === true
  const { author } = event
  // Written out, because each token passes here and a spread takes longer than all the rest.
  if (task !== undefined) return { text, thought, author, message, task, ...(node === undefined ? {} : { node }) }
  return node === undefined ? { text, thought, author, message } : { text, thought, author, message, node }
}

const none: readonly never[] = []
