import { type Call, itemsOf, type ToolCard, type Transcript } from '@millrace/core'
import { useMemo } from 'react'
import { resultTarget } from '../change/draft.ts'
import { EditButton } from '../change/edit-button.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { prettyJson, readableJson } from './words.ts'

interface ToolWordsProps {
  readonly call: Call
  readonly transcript: Transcript
  readonly session: string
}

/** The arguments and the result of a tool. */
export function ToolWords({ call, transcript, session }: ToolWordsProps) {
  const card = useMemo(() => cardOf(transcript, call), [transcript, call])
  if (card === undefined) return null
  const result = card.error ?? (card.result === undefined ? undefined : readableJson(card.result))
  return (
    <>
      <section className="panel-section" data-testid="step-arguments" aria-label="Arguments">
        <h3>
          Arguments
          <span className="spacer" />
          <CopyButton text={() => prettyJson(card.args ?? {})} label="Copy the arguments" />
        </h3>
        <pre className="step-pre">{readableJson(card.args ?? {})}</pre>
      </section>
      <section className="panel-section" data-testid="step-result" aria-label="Result">
        <h3>
          {card.error === undefined ? 'Result' : 'Error'}
          <span className="spacer" />
          {card.result !== undefined && <EditButton session={session} target={resultTarget(card, call.run)} />}
        </h3>
        {result === undefined ? <p className="nothing">No answer.</p> : <pre className="step-pre">{result}</pre>}
      </section>
    </>
  )
}

function cardOf(transcript: Transcript, { run, call }: Call): ToolCard | undefined {
  for (const item of itemsOf(transcript)) {
    if (item.kind !== 'message' || item.run !== run) continue
    for (const part of item.parts) if (part.kind === 'tool' && part.call === call) return part
  }
  return undefined
}
