/**
 * The most values that one JSON text may hold. Each takes 30 to 100 bytes when it is parsed, so that 16 MB of empty lists
 * would take 500 MB. A message of an agent with its tool calls has some hundred values.
 */
export const maxJsonNodes = 2 ** 18

/** About how many values a JSON text holds, counted by its brackets and commas outside strings, without parsing it. */
export function jsonNodes(text: string): number {
  let nodes = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) i = stringEnd(text, i)
    else if (code === 44 || code === 91 || code === 123) nodes += 1
  }
  return nodes
}

/** Whether a JSON text holds more values than this. A value needs two characters, so that most texts are not read. */
export function holdsMore(text: string, than: number): boolean {
  return text.length > 2 * than && jsonNodes(text) > than
}

/** Where the string that begins here ends. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
