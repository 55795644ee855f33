import { type Claim, claimsIn, countedBy, type SupportIndex } from '@millrace/core'

/** As much of a hast node as is needed here. */
interface MarkupNode {
  type: string
  tagName?: string
  value?: string
  properties?: Record<string, unknown>
  children?: MarkupNode[]
}

const blocks = new Set(['p', 'li', 'td', 'th', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote'])

/**
 * A rehype plugin: each sentence becomes a span with its text in `data-claim`, each figure a button with its place in
 * that text in `data-figure`. In a table, `data-of` is what the numbers of the column count. A figure that nothing in the
 * log supports has the class `unheld`.
 */
export function claimMarks(support: SupportIndex): () => (tree: MarkupNode) => void {
  return () => (tree) => visit(tree, support)
}

function visit(node: MarkupNode, support: SupportIndex, heads: readonly string[] = [], column = 0): void {
  if (node.type === 'element' && blocks.has(node.tagName ?? ''))
    markBlock(node, support, node.tagName === 'td' ? countedBy(heads[column] ?? '') : undefined)
  const within = node.tagName === 'table' ? headsOf(node) : heads
  let cell = 0
  for (const child of node.children ?? []) {
    if (child.properties?.dataClaim === undefined) visit(child, support, within, cell)
    if (child.tagName === 'td') cell += 1
  }
}

const textOf = ({ value, children }: MarkupNode): string => value ?? (children ?? []).map(textOf).join('')

function headsOf(node: MarkupNode): readonly string[] {
  return (node.children ?? []).flatMap((child) => (child.tagName === 'th' ? [textOf(child)] : headsOf(child)))
}

/** Texts of the block itself, not of a list inside an item. */
function textsIn(node: MarkupNode, found: { parent: MarkupNode; node: MarkupNode }[]): typeof found {
  for (const child of node.children ?? []) {
    if (child.type === 'text') found.push({ parent: node, node: child })
    else if (!blocks.has(child.tagName ?? '') && child.tagName !== 'ul' && child.tagName !== 'ol') textsIn(child, found)
  }
  return found
}

function markBlock(block: MarkupNode, support: SupportIndex, of: string | undefined): void {
  const texts = textsIn(block, [])
  const whole = texts.map(({ node }) => node.value ?? '').join('')
  const claims = claimsIn(whole, of)
  let at = 0
  for (const { parent, node } of texts) {
    const value = node.value ?? ''
    const made = claims
      .filter(({ start, end }) => start < at + value.length && end > at)
      .map((claim) =>
        sentence(whole, claim, Math.max(claim.start, at), Math.min(claim.end, at + value.length), support),
      )
    if (of !== undefined) for (const { properties } of made) if (properties !== undefined) properties.dataOf = of
    at += value.length
    if (made.length > 0) parent.children?.splice(parent.children.indexOf(node), 1, ...made)
  }
}

/** The part of a claim that one text node holds. */
function sentence(text: string, claim: Claim, from: number, to: number, support: SupportIndex): MarkupNode {
  const said = text.slice(claim.start, claim.end)
  const children: MarkupNode[] = []
  let at = from
  const plain = (end: number): void => {
    if (end > at) children.push({ type: 'text', value: text.slice(at, end) })
    at = Math.max(at, end)
  }
  for (const figure of claim.figures) {
    if (figure.end <= from || figure.start >= to) continue
    const [first, last] = [Math.max(from, figure.start), Math.min(to, figure.end)]
    const [before, after] = [opening(text, at, first), closing(text, last, to)]
    plain(before)
    const held = support.of(figure)
    const kind = held[0]?.evidence.kind
    const state = kind === undefined ? 'unheld' : kind === 'tool' || kind === 'data' ? 'held' : 'stated'
    const button: MarkupNode = {
      type: 'element',
      tagName: 'button',
      properties: { type: 'button', className: ['figure', state], dataFigure: figure.start - claim.start },
      children: [{ type: 'text', value: text.slice(first, last) }],
    }
    const beside = [text.slice(before, first), text.slice(last, after)].map((value) => ({ type: 'text', value }))
    const kept = [beside[0], button, beside[1]].filter((node) => node !== undefined && node.value !== '')
    children.push({
      type: 'element',
      tagName: 'span',
      properties: { className: ['kept'] },
      children: kept as MarkupNode[],
    })
    at = after
  }
  plain(to)
  return { type: 'element', tagName: 'span', properties: { className: ['claim'], dataClaim: said }, children }
}

/** A line breaks beside a button, and no line may end with a bracket or begin with a full stop. */
function opening(text: string, from: number, figure: number): number {
  let at = figure
  while (at > from && /[([{“"'’]/.test(text[at - 1] ?? '')) at -= 1
  return at
}

function closing(text: string, figure: number, to: number): number {
  let at = figure
  while (at < to && /[)\]}”"'’.,;:!?%]/.test(text[at] ?? '')) at += 1
  return at
}
