import { memo } from 'react'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { TextBlock } from './text-block.tsx'
import './markdown.css'

/**
 * Renders the output of a model as markdown. Raw HTML stays text (the default of react-markdown), links are http(s) or
 * mailto and open in a new tab without a referrer, and images are never fetched, because fetching one reveals that the
 * message was read.
 */
const components: Components = {
  a: ({ href, children }) =>
    href !== undefined && /^(https?:|mailto:|#)/i.test(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // A wide table scrolls on its own and can be scrolled with the keyboard.
  table: ({ children }) => (
    // A group and no region: a landmark needs a name of its own, and an answer may have many tables (axe: landmark-unique).
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable (axe: scrollable-region-focusable)
    <div className="wide" role="group" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => <TextBlock label="Code">{children}</TextBlock>,
  img: ({ alt, src }) => (
    <span className="no-image">[image: {alt === undefined || alt === '' ? String(src ?? '') : alt}]</span>
  ),
}

interface MarkdownProps {
  readonly text: string
  /** Marks sentences and figures in the parsed text. */
  readonly marks?: () => (tree: { type: string }) => void
}

export const MarkdownText = memo(function MarkdownText({ text, marks }: MarkdownProps) {
  return (
    <div className="markdown">
      <Markdown remarkPlugins={[remarkGfm]} rehypePlugins={marks === undefined ? [] : [marks]} components={components}>
        {text}
      </Markdown>
    </div>
  )
})
