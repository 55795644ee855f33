import type { NodeId } from '../../../event/run-event.ts'
import type { Frame } from '../../../frame/frame.ts'
import { type TextPiece, type TextTurns, textTurns } from '../../bare-text/text-turns.ts'
import type { PlainChunks } from '../chunks.ts'
import type { OpenNodes } from '../nodes.ts'
import { jsonFrame } from '../wire.ts'
import { type SpokenText, SpokenTexts } from './spoken-texts.ts'

/**
 * What the agents of one run say, as frames. A chunk is the text of a message so far, because ADK Studio's page replaces
 * what it shows; with `pieces` it is what the text grew by. Bare text carries no name: where a reader would assign it to
 * another node, an `agent` frame names the right one, and where a reader would take a message for a part of the one
 * before it, an `agent` frame that names the same node again separates the two.
 */
export class Speech {
  readonly turns: TextTurns
  readonly #nodes: OpenNodes
  readonly #pieces: PlainChunks | undefined
  readonly #texts = new SpokenTexts()
  /** The agent that ADK Studio's page shows as the one at work: the one that was named last. */
  #shown: string | undefined

  constructor(nodes: OpenNodes, pieces: PlainChunks | undefined) {
    this.#nodes = nodes
    this.#pieces = pieces
    this.turns = textTurns({ marksEnds: pieces === undefined })
  }

  say(pieces: readonly TextPiece[]): Frame[] {
    const [only] = pieces
    // Nearly always it is one token.
    if (only !== undefined && pieces.length === 1 && this.#pieces === undefined && !only.thought && only.ends !== true)
      return this.#chunk(this.#texts.add(only))
    return pieces.flatMap((piece, i) => {
      if (piece.ends === true) return this.#chunk(this.#texts.end(piece.message))
      if (piece.thought) return [this.#thinking(piece)]
      if (this.#pieces === undefined) {
        const spoken = this.#texts.add(piece)
        // What waited comes in many pieces at once, and only the last of them is due.
        return pieces[i + 1]?.message === piece.message ? [] : this.#chunk(spoken)
      }
      return [...this.#named(piece), ...this.#pieces.split(piece.text).map(chunkFrame)]
    })
  }

  /** All text that waits, and the ends of all messages: the run is over. */
  flush(): Frame[] {
    const said = this.say(this.turns.flush())
    return [...said, ...this.#texts.endAll().flatMap((spoken) => this.#chunk(spoken))]
  }

  /** These messages were lost in a crash, and no longer count. */
  drop(messages: readonly string[]): Frame[] {
    this.#texts.drop(messages)
    return this.say(this.turns.drop(messages))
  }

  /** The node called a tool or got a result. */
  acted(node: NodeId | undefined): void {
    this.#texts.acted(node ?? '')
    this.#pieces?.interrupt()
  }

  /** A frame named this agent. Returns whether it was another one before. */
  shows(name: string): boolean {
    const other = this.#shown !== name
    this.#shown = name
    return other
  }

  /** For a reader that joins now: the text of the streaming message so far, under the name of its node. */
  streaming(): Frame[] {
    const last = this.#nodes.all.at(-1)?.id
    const { streaming } = this.turns
    const speaker = streaming[0]?.node ?? last
    const text = streaming.flatMap((piece) => (piece.thought ? [] : [piece.text])).join('')
    return [
      ...(speaker === last ? [] : this.#names(speaker)),
      ...streaming.flatMap((piece) => (piece.thought ? [this.#thinking(piece)] : [])),
      ...(text === '' ? [] : [chunkFrame(text)]),
      ...(this.#nodes.speaker?.id === speaker ? [] : this.#names(this.#nodes.speaker?.id)),
    ]
  }

  #chunk(spoken: SpokenText | undefined): Frame[] {
    if (spoken === undefined) return []
    const named = this.#named(spoken.piece)
    const { speaker } = this.#nodes
    const first = spoken.printed === 0
    const mixed = this.#texts.print(spoken, speaker?.id ?? '')
    // The page takes text for that of the node that started last, even after that node has ended.
    const away = first && named.length === 0 && speaker !== undefined && this.shows(speaker.name)
    const chunk = chunkFrame(spoken.text)
    if (!mixed && !away) return named.length === 0 ? [chunk] : [...named, chunk]
    const mark = speaker === undefined ? [{ event: 'agent', data: '' }] : this.#names(speaker.id)
    return [...named, ...mark, chunk]
  }

  #thinking({ text, author, node }: TextPiece): Frame {
    const clear = node === undefined || this.#nodes.named(author)?.id === node
    return jsonFrame('thinking', { content: text, agent: author, ...(clear ? {} : { node_id: node }) })
  }

  #named({ node }: TextPiece): Frame[] {
    if (node === undefined || this.#nodes.speaker?.id === node) return []
    this.#nodes.speak(node)
    this.#shown = this.#nodes.get(node)?.name ?? this.#shown
    return this.#names(node)
  }

  #names(id: NodeId | undefined): Frame[] {
    const node = id === undefined ? undefined : this.#nodes.get(id)
    if (node === undefined) return []
    return [{ event: 'agent', data: this.#nodes.named(node.name)?.id === id ? node.name : node.id }]
  }
}

function chunkFrame(data: string): Frame {
  return { event: 'chunk', data }
}
