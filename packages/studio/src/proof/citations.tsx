import type { Basis, Proof } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { OriginPill } from './confidence.tsx'

/** The rules that the answer is based on, without repetitions. */
export function BasisList({ basis }: { readonly basis: readonly Basis[] }) {
  const once = [...new Map(basis.map((each) => [each.text, each])).values()]
  return (
    <section className="panel-section">
      <h3>
        Regulatory basis <Pill>{once.length}</Pill>
      </h3>
      {once.length === 0 ? (
        <p className="nothing">Not given: no rule is cited.</p>
      ) : (
        <ul className="basis">
          {once.map(({ text, from }) => (
            <li key={text}>
              <span>{text}</span>
              <SeqLink seq={from.seq} />
              <CopyButton text={text} label="Copy" />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

interface CitedSource {
  readonly by: string
  readonly title: string
  readonly detail: string | undefined
  readonly excerpt: string | undefined
  readonly uri: string | undefined
  readonly seq: number
  readonly origin: 'stated' | 'parsed'
}

/** The sources that the answer and its specialists cite. */
export function CitationList({ proofs }: { readonly proofs: readonly Proof[] }) {
  const sources = citedSourcesOf(proofs)
  return (
    <section className="panel-section">
      <h3>
        Citations <Pill>{sources.length}</Pill>
      </h3>
      {sources.length === 0 && <p className="nothing">Not given: no source is cited.</p>}
      <ol className="citations">
        {sources.map(({ by, title, detail, excerpt, uri, seq, origin }) => (
          <li key={`${by}\n${title}\n${detail}\n${seq}`} data-testid="proof-citation">
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
              {by} <SeqLink seq={seq} /> <OriginPill origin={origin} />
            </p>
          </li>
        ))}
      </ol>
    </section>
  )
}

function citedSourcesOf(proofs: readonly Proof[]): readonly CitedSource[] {
  const all = proofs.flatMap(({ author, citations, sources }): CitedSource[] => [
    ...citations.map(({ source, reference, excerpt, uri, from }) => ({
      by: author,
      title: source,
      detail: reference,
      excerpt,
      uri,
      seq: from.seq,
      origin: from.origin,
    })),
    ...sources.map(({ text, uri, from }) => ({
      by: author,
      title: text,
      detail: undefined,
      excerpt: undefined,
      uri,
      seq: from.seq,
      origin: from.origin,
    })),
  ])
  return [...new Map(all.map((each) => [`${each.title}\n${each.detail}\n${each.excerpt}`, each])).values()]
}
