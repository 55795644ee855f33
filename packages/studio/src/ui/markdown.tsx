import { memo } from 'react'
import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import './markdown.css'

/**
 * What a model wrote, as markdown. Raw HTML is text (react-markdown's default), links are http(s) or mail and open
 * elsewhere without a referrer, and images are never fetched: a picture's address is enough to leak that it was seen.
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
  // A wide table scrolls by itself, also with the keyboard.
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable (axe: scrollable-region-focusable)
    <section className="wide" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  img: ({ alt, src }) => (
    <span className="no-image">[image: {alt === undefined || alt === '' ? String(src ?? '') : alt}]</span>
  ),
}

export const MarkdownText = memo(function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div className="markdown">
      <Markdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </Markdown>
    </div>
  )
})
