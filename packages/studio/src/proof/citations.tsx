import type { Basis, CitedSource } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { OriginPill } from './confidence.tsx'

/** The rules that the answer is based on, without repetitions. */
export function BasisList({ basis }: { readonly basis: readonly Basis[] }) {
  const once = [...new Map(basis.map((each) => [each.text, each])).values()]
  if (once.length === 0) return null
  return (
    <section className="panel-section">
      <h3>
        Regulatory basis <Pill>{once.length}</Pill>
      </h3>
      <ul className="basis">
        {once.map(({ text, from }) => (
          <li key={text}>
            <span>{text}</span>
            <SeqLink seq={from.seq} />
            <CopyButton text={text} label="Copy" />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The sources that the answer and its specialists cite, each once. */
export function CitationList({ sources }: { readonly sources: readonly CitedSource[] }) {
  if (sources.length === 0) return null
  return (
    <section className="panel-section">
      <h3>
        Citations <Pill>{sources.length}</Pill>
      </h3>
      <ol className="citations">
        {sources.map(({ by, title, detail, excerpt, uri, from: { seq, origin } }) => (
          <li key={`${title}\n${detail}\n${seq}`} data-testid="proof-citation">
            <div className="citation-title">
              {uri !== undefined && /^https?:\/\//i.test(uri) ? (
                <a href={uri} target="_blank" rel="noopener noreferrer nofollow">
                  {title}
                </a>
              ) : (
                <b>{title}</b>
              )}
              <span className="spacer" />
              <CopyButton text={[title, detail, excerpt, uri].filter(Boolean).join('\n')} label="Copy the citation" />
            </div>
            {detail !== undefined && <p>{detail}</p>}
            {excerpt !== undefined && <blockquote>{excerpt}</blockquote>}
            <p className="faint citation-meta">
              {by.join(', ')} <SeqLink seq={seq} /> <OriginPill origin={origin} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}
