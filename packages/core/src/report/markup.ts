/** A piece of HTML that is safe to put into the page: made by `html`, never by joining strings. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Child = Markup | string | number | undefined | readonly Child[]

/** Joins a template. Everything that is not markup itself is escaped, so that no word of an agent becomes a tag. */
export function html(parts: TemplateStringsArray, ...children: readonly Child[]): Markup {
  let text = parts[0] ?? ''
  for (const [i, child] of children.entries()) text += printed(child) + (parts[i + 1] ?? '')
  return new Markup(text)
}

function printed(child: Child): string {
  if (child === undefined) return ''
  if (child instanceof Markup) return child.text
  if (typeof child === 'object') return child.map(printed).join('')
  return escaped(String(child))
}

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Characters that no HTML or XML text may have, and marks that turn the direction of the text after them. */
const forbidden = /(?![\t\n\r])\p{Cc}|[\u202A-\u202E\u2066-\u2069\uFFFE\uFFFF]|\p{Cs}/gu

function escaped(text: string): string {
  return text.replace(forbidden, '\uFFFD').replace(/[&<>"']/g, (mark) => marks[mark] ?? mark)
}

/** The beginning of a long text, and how much is left out. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most)} … (${(text.length - most).toLocaleString('en-US')} more characters are in the log)`
}
