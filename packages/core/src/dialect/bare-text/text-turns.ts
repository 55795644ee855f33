import { partsOf, textOf } from '../../event/parts.ts'
import type { AgentSaid, NodeId } from '../../event/run-event.ts'

/** A piece of what an agent says, ready for a wire that has no message ids. */
export interface TextPiece {
  readonly text: string
  readonly thought: boolean
  readonly author: string
  readonly node?: NodeId
  readonly task?: string
}

/**
 * Takes turns: such a wire shows one text, so agents that stream side by side would mix word by word. One message at a
 * time streams; what others say meanwhile waits, and follows when it is over (SPEC 3.5). The aggregate of a message
 * that was streamed is not said again, only what its partials left out.
 */
export interface TextTurns {
  partial(said: AgentSaid, lane: string): readonly TextPiece[]
  whole(said: AgentSaid, lane: string): readonly TextPiece[]
  /** The lane is about to do something else: what it said before comes first. */
  before(lane: string): readonly TextPiece[]
  /** The lane is over, whether its message was finished or not. */
  end(lane: string): readonly TextPiece[]
  /** Everything is over. */
  flush(): readonly TextPiece[]
  /** These messages no longer count: what waits of them is not said. */
  drop(messages: readonly string[]): readonly TextPiece[]
  /** What has been said of the message that is streaming. */
  readonly streaming: readonly TextPiece[]
}

interface Turn {
  readonly lane: string
  /** What its partials said, waiting or not: text, then thoughts. */
  readonly streamed: [text: string, thoughts: string]
  /** How much was said of it before, when it was over once already. */
  readonly before: readonly [text: number, thoughts: number]
  said: TextPiece[]
  waiting: TextPiece[]
  whole: boolean
}

const nothing = [0, 0] as const

export function textTurns(): TextTurns {
  /** Messages not over or not said yet, oldest first; the first one that is not over streams. */
  const turns = new Map<string, Turn>()
  let front: string | undefined
  /** The same by lane, so that a lane's own are found however many others wait. */
  const lanes = new Map<string, Map<string, Turn>>()
  /** The one message of a lane that is not over. */
  const unfinished = new Map<string, string>()
  /** How much was said of messages that are over: one that comes again says only what is new. */
  const over = new Map<string, readonly [text: number, thoughts: number]>()

  const forget = (message: string, { lane }: Turn): void => {
    turns.delete(message)
    const own = lanes.get(lane)
    own?.delete(message)
    if (own?.size === 0) lanes.delete(lane)
    if (unfinished.get(lane) === message) unfinished.delete(lane)
  }
  const finish = (message: string, turn: Turn): void => {
    const { streamed, before } = turn
    forget(message, turn)
    over.set(message, [before[0] + streamed[0].length, before[1] + streamed[1].length])
  }
  const saying = (turn: Turn): TextPiece[] => {
    const pieces = turn.waiting
    turn.waiting = []
    for (const piece of pieces) {
      const last = turn.said.at(-1)
      if (last?.thought === piece.thought) turn.said[turn.said.length - 1] = { ...last, text: last.text + piece.text }
      else turn.said.push(piece)
    }
    return pieces
  }
  const next = (): TextPiece[] => {
    const pieces: TextPiece[] = []
    front = undefined
    for (const [message, turn] of turns) {
      for (const piece of saying(turn)) pieces.push(piece) // a spread takes no more than a call's arguments
      if (!turn.whole) {
        front = message
        break
      }
      finish(message, turn)
    }
    return pieces
  }
  const gone = (): TextPiece[] => (front !== undefined && !turns.has(front) ? next() : [])
  const turnOf = (message: string, lane: string): Turn => {
    const known = turns.get(message)
    if (known !== undefined) return known
    const before = over.get(message) ?? nothing
    const turn: Turn = { lane, streamed: ['', ''], before, said: [], waiting: [], whole: false }
    turns.set(message, turn)
    const own = lanes.get(lane) ?? new Map<string, Turn>()
    lanes.set(lane, own.set(message, turn))
    unfinished.set(lane, message)
    return turn
  }
  const add = (turn: Turn, piece: TextPiece): void => {
    turn.streamed[piece.thought ? 1 : 0] += piece.text
    turn.waiting.push(piece)
  }
  /** A lane says one message at a time: one that was never finished is over when its lane starts another. */
  const abandon = (lane: string, message: string): TextPiece[] => {
    const other = unfinished.get(lane)
    const turn = other === undefined || other === message ? undefined : turns.get(other)
    if (turn !== undefined) {
      turn.whole = true
      unfinished.delete(lane)
    }
    return front !== undefined && turns.get(front)?.whole === true ? next() : []
  }
  const before: TextTurns['before'] = (lane) => {
    const pieces: TextPiece[] = []
    for (const [message, turn] of lanes.get(lane) ?? []) {
      for (const piece of saying(turn)) pieces.push(piece)
      if (turn.whole) finish(message, turn)
    }
    return pieces
  }

  return {
    partial(said, lane) {
      const abandoned = abandon(lane, said.message)
      const turn = turnOf(said.message, lane)
      front ??= said.message
      for (const piece of piecesOf(said)) add(turn, piece)
      return front === said.message ? [...abandoned, ...saying(turn)] : abandoned
    },
    whole(said, lane) {
      const abandoned = abandon(lane, said.message)
      const pieces = piecesOf(said)
      if (pieces.length === 0 && !turns.has(said.message)) return abandoned
      const turn = turnOf(said.message, lane)
      for (const piece of leftOut(pieces, turn)) add(turn, piece)
      turn.whole = true
      return front === undefined || front === said.message ? [...abandoned, ...next()] : abandoned
    },
    before,
    end(lane) {
      const pieces = [...before(lane)]
      for (const [message, turn] of lanes.get(lane) ?? []) finish(message, turn)
      return [...pieces, ...gone()]
    },
    flush() {
      const pieces = [...turns.values()].flatMap(saying)
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
      return front === undefined ? [] : (turns.get(front)?.said ?? [])
    },
  }
}

/** What the aggregate has beyond what was said: everything, if nothing streamed; nothing, unless partials were lost. */
function leftOut(pieces: readonly TextPiece[], { streamed, before }: Turn): TextPiece[] {
  return ([1, 0] as const).flatMap((kind) => {
    const own = pieces.filter((piece) => piece.thought === (kind === 1))
    const text = own.map((piece) => piece.text).join('')
    const [first] = own
    // Of what was said before only the length is kept.
    const goesOn = before[kind] > 0 || text.startsWith(streamed[kind])
    const rest = goesOn ? text.slice(before[kind] + streamed[kind].length) : ''
    return first === undefined || rest === '' ? [] : [{ ...first, text: rest }]
  })
}

function piecesOf({ event, node, task }: AgentSaid): TextPiece[] {
  const pieces: TextPiece[] = []
  for (const part of partsOf(event.content)) {
    const text = textOf(part)
    if (text === '') continue
    pieces.push({
      text,
      thought: part.thought === true,
      author: event.author,
      ...(node === undefined ? {} : { node }),
      ...(task === undefined ? {} : { task }),
    })
  }
  return pieces
}
