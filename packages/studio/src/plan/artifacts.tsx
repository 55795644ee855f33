import { type AdkPart, type PlanArtifact, wellFormed } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { root } from '../app/route.ts'
import { isFile } from '../session/files.ts'
import { rowIndexAt } from '../session/row-index.ts'
import { save } from '../session/session-actions.ts'
import { Button, Pill } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { SeqLink } from '../ui/seq-link.tsx'

/** The artifacts of the session, to read here or to download. */
export function Artifacts({
  session,
  artifacts,
}: {
  readonly session: SessionHandle
  readonly artifacts: readonly PlanArtifact[]
}) {
  const present = artifacts.filter(({ deleted }) => deleted !== true)
  if (present.length === 0) return null
  return (
    <section className="panel-section">
      <h3>
        Artifacts <Pill>{present.length}</Pill>
      </h3>
      {present.map((artifact) => (
        <ArtifactCard key={artifact.id} session={session} artifact={artifact} />
      ))}
    </section>
  )
}

function ArtifactCard({ session, artifact }: { readonly session: SessionHandle; readonly artifact: PlanArtifact }) {
  const part = contentOf(session, artifact)
  const { id, name, type, version, seq } = artifact
  const address = `${root}sessions/${encodeURIComponent(session.id)}/artifacts/${encodeURIComponent(wellFormed(id))}/download`
  return (
    <details className="artifact" data-testid="plan-artifact">
      <summary>
        <Icon name="file" />
        <b className="ellipsis">{name}</b>
        <Pill>{type}</Pill>
        {version > 0 && <span className="faint number">v{version}</span>}
        <span className="spacer" />
        <SeqLink seq={seq} />
      </summary>
      <div className="artifact-body">
        {part?.text !== undefined ? (
          <MarkdownText text={part.text} />
        ) : (
          <p className="nothing">
            {part === undefined
              ? 'The content was not recorded.'
              : `A file of type ${part.inlineData?.mimeType ?? 'unknown'}.`}
          </p>
        )}
        {part?.text !== undefined && (
          <Button icon="download" onClick={() => save(/\.\w+$/.test(name) ? name : `${name}.md`, part.text ?? '')}>
            Download
          </Button>
        )}
        {part !== undefined && part.text === undefined && !isFile(session.id) && (
          <a className="button plain" href={address} download>
            <Icon name="download" />
            Download
          </a>
        )}
      </div>
    </details>
  )
}

/** The content is only in the event that saved the artifact. */
function contentOf({ log: { rows } }: SessionHandle, { content }: PlanArtifact): AdkPart | undefined {
  if (content === undefined) return undefined
  const row = rows[rowIndexAt(rows, content)]
  return row?.event.kind === 'artifact' ? row.event.part : undefined
}
