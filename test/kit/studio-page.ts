import { type Frame, type JsonObject, sseReader } from '@millrace/core'

/**
 * What ADK Studio's page makes of a stream, by the rules of its reader: a chunk replaces the text, a node that starts
 * clears it, tools are added to it, the first `end` or `error` closes the stream, and a snapshot is taken where a node
 * ends. `stateKeys` has the keys of each node, which the canvas writes on the edges that leave it.
 */
export class PageReader {
  session = ''
  text = ''
  closed: 'end' | 'error' | undefined
  interrupt: { readonly nodeId: string; readonly message: string } | undefined
  /** The agent that is shown as the one at work. */
  agent = ''
  readonly messages: string[] = []
  readonly snapshots: { node: string; input: JsonObject; output: JsonObject }[] = []
  readonly stateKeys = new Map<string, readonly string[]>()
  readonly log: string[] = []

  take({ event, data }: Frame): void {
    if (this.closed !== undefined) return
    const json = (): JsonObject => JSON.parse(data) as JsonObject
    if (event === 'session') this.session = data
    else if (event === 'chunk') this.text = data
    else if (event === 'agent') this.#named(data)
    else if (event === 'trace') this.#trace(json())
    else if (event === 'log') this.#logged(json())
    else if (event === 'tool_call') this.text += `\n🔧 Calling ${json().name}...\n`
    else if (event === 'interrupt') this.#asked(json())
    else if (event === 'resume') this.interrupt = undefined
    else if (event === 'end' || event === 'error') this.#close(event, data)
  }

  #named(agent: string): void {
    if (this.text !== '') this.text += '\n\n'
    this.agent = agent
  }

  #logged({ agent, message }: JsonObject): void {
    if (typeof agent === 'string') this.agent = agent
    this.log.push(String(message))
  }

  #asked({ node_id: nodeId, message }: JsonObject): void {
    this.interrupt = { nodeId: String(nodeId), message: String(message) }
  }

  #trace({ type, node, state_snapshot: snapshot, state_keys: keys }: JsonObject): void {
    if (type !== 'node_start' && type !== 'node_end') return
    const name = String(node)
    if (type === 'node_start') {
      this.agent = name
      this.text = ''
    } else {
      const { input, output } = snapshot as { input: JsonObject; output: JsonObject }
      this.snapshots.push({ node: name, input, output })
    }
    if (Array.isArray(keys) && keys.length > 0) this.stateKeys.set(name, keys.map(String))
  }

  #close(how: 'end' | 'error', data: string): void {
    this.closed = how
    const said = how === 'end' ? this.text : `Error: ${data}`
    if (said !== '') this.messages.push(said)
  }
}

/** Reads a response as an EventSource does, until the reader has closed it, `enough` says so, or it ends. */
export async function readAsPage(
  answer: Response,
  reader: PageReader,
  enough: (reader: PageReader) => boolean = () => false,
): Promise<PageReader> {
  const frames = sseReader()
  const body = answer.body?.getReader()
  const text = new TextDecoder()
  while (reader.closed === undefined && !enough(reader)) {
    const part = await body?.read()
    if (part === undefined || part.done) break
    for (const frame of frames.feed(text.decode(part.value, { stream: true }))) reader.take(frame)
  }
  await body?.cancel().catch(() => {})
  return reader
}
