import { type Claim, claimsIn, type SupportIndex } from '@millrace/core'

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
 * that text in `data-figure`. A figure that nothing in the log holds has the class `unheld`.
 */
export function claimMarks(support: SupportIndex): () => (tree: MarkupNode) => void {
  return () => (tree) => visit(tree, support)
}

function visit(node: MarkupNode, support: SupportIndex): void {
  if (node.type === 'element' && blocks.has(node.tagName ?? '')) markBlock(node, support)
  for (const child of node.children ?? []) if (child.properties?.dataClaim === undefined) visit(child, support)
}

/** Texts of the block itself, not of a list inside an item. */
function textsIn(node: MarkupNode, found: { parent: MarkupNode; node: MarkupNode }[]): typeof found {
  for (const child of node.children ?? []) {
    if (child.type === 'text') found.push({ parent: node, node: child })
    else if (!blocks.has(child.tagName ?? '') && child.tagName !== 'ul' && child.tagName !== 'ol') textsIn(child, found)
  }
  return found
}

function markBlock(block: MarkupNode, support: SupportIndex): void {
  const texts = textsIn(block, [])
  const whole = texts.map(({ node }) => node.value ?? '').join('')
  const claims = claimsIn(whole)
  let at = 0
  for (const { parent, node } of texts) {
    const value = node.value ?? ''
    const made = claims
      .filter(({ start, end }) => start < at + value.length && end > at)
      .map((claim) =>
        sentence(whole, claim, Math.max(claim.start, at), Math.min(claim.end, at + value.length), support),
      )
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
    plain(Math.max(from, figure.start))
    const held = support.of(figure)
    const kind = held[0]?.evidence.kind
    const state = kind === undefined ? 'unheld' : kind === 'tool' || kind === 'data' ? 'held' : 'stated'
    children.push({
      type: 'element',
      tagName: 'button',
      properties: { type: 'button', className: ['figure', state], dataFigure: figure.start - claim.start },
      children: [{ type: 'text', value: text.slice(at, Math.min(to, figure.end)) }],
    })
    at = Math.min(to, figure.end)
  }
  plain(to)
  return { type: 'element', tagName: 'span', properties: { className: ['claim'], dataClaim: said }, children }
}
