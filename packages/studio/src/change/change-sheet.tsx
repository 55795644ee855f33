import type { CallCounts, ChangePlan } from '@millrace/core'
import { type KeyboardEvent, useState } from 'react'
import { titleOf, useSessionInfo } from '../session/sessions.ts'
import { Button, IconButton } from '../ui/controls.tsx'
import { eventNumber } from '../ui/event-number.ts'
import { Sheet } from '../ui/sheet.tsx'
import { type ChangeTarget, changeFrom, type DraftField, fieldsOf } from './draft.ts'
import { closeChange, runChanged, useChange } from './open-change.ts'
import '../app/key-sheet.css'
import './change.css'

/** The editor of one thing of a run. It says what is reused before anything runs. */
export function ChangeSheet() {
  const { session, target } = useChange()
  return (
    <Sheet
      open={target !== undefined}
      onClose={closeChange}
      className="key-sheet change-sheet"
      testId="change-sheet"
      titleId="change-title"
      closesOutside={false}
      focus="textarea"
    >
      {session !== undefined && target !== undefined && (
        <Editor key={keyOf(target)} session={session} target={target} />
      )}
    </Sheet>
  )
}

const keyOf = (target: ChangeTarget): string => JSON.stringify(target)

function Editor({ session, target }: { readonly session: string; readonly target: ChangeTarget }) {
  const fields = fieldsOf(target)
  const { plan, refusal } = useChange()
  const info = useSessionInfo(session)
  const [texts, setTexts] = useState(() => fields.map(({ text }) => text))
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const read = changeFrom(target, texts)
  const isReady = plan !== undefined && !busy && 'change' in read && !read.same
  const run = async (): Promise<void> => {
    if (!isReady) return
    setBusy(true)
    setFailure(undefined)
    try {
      await runChanged(session, read.change, `${info === undefined ? session : titleOf(info)} (changed)`)
      closeChange()
    } catch (error) {
      setBusy(false)
      setFailure(error instanceof Error ? error.message : String(error))
    }
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // Keys of the page, such as j and k, are letters here.
    event.stopPropagation()
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    void run()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the fields inside
    <div onKeyDown={onKeyDown}>
      <header>
        <h2 id="change-title">{titles[target.field](target)}</h2>
        <IconButton icon="close" label="Close" onClick={closeChange} />
      </header>
      {fields.map((field, i) => (
        <TextField
          key={field.name}
          field={field}
          text={texts[i] ?? ''}
          onChange={(text) => setTexts(texts.with(i, text))}
        />
      ))}
      <p className="change-problem" role="status" data-testid="change-problem">
        {'problem' in read ? read.problem : (failure ?? '')}
      </p>
      <footer>
        <p data-testid="change-plan">
          {refusal !== undefined
            ? `Not possible: ${refusal}`
            : plan === undefined
              ? 'Looking…'
              : planWords(plan, target)}
        </p>
        <Button onClick={closeChange}>Cancel</Button>
        <Button tone="accent" icon="play" disabled={!isReady} onClick={() => void run()} data-testid="change-run">
          Run
        </Button>
      </footer>
    </div>
  )
}

const titles: Readonly<Record<ChangeTarget['field'], (target: ChangeTarget) => string>> = {
  message: () => 'Edit the message and run on',
  tool: (target) => `Edit the result of ${target.field === 'tool' ? target.name : 'a tool'} and run on`,
  state: (target) => `Edit the state after event ${target.field === 'state' ? eventNumber(target.seq) : ''} and run on`,
  prompt: (target) => `Edit the request of ${target.field === 'prompt' ? target.agent : 'a model call'} and run on`,
}

interface FieldProps {
  readonly field: DraftField
  readonly text: string
  readonly onChange: (text: string) => void
}

function TextField({ field: { name, kind }, text, onChange }: FieldProps) {
  return (
    <label className="change-field">
      <span>
        {name} {kind === 'json' && <span className="faint">JSON</span>}
      </span>
      <textarea
        className={kind}
        rows={Math.max(3, Math.min(14, text.split('\n').length + 1))}
        spellCheck={kind === 'words'}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  )
}

/** What the run takes over and what it does again. */
function planWords({ reused, again }: ChangePlan, { field }: ChangeTarget): string {
  const kept = counted(reused)
  const stays =
    field === 'message'
      ? 'Earlier runs stay as they are.'
      : kept === ''
        ? 'No earlier call is reused.'
        : `${kept} ${reused.modelCalls + reused.toolCalls === 1 ? 'is' : 'are'} reused, not called again.`
  const before = counted(again)
  const anew = before === '' ? 'The rest runs anew.' : `The rest runs anew: in this session that was ${before}.`
  return `A new session runs on; this one stays as it is. ${stays} ${anew}`
}

function counted({ modelCalls, toolCalls }: CallCounts): string {
  const one = (count: number, name: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${name} ${count === 1 ? 'call' : 'calls'}`]
  return [...one(modelCalls, 'model'), ...one(toolCalls, 'tool')].join(' and ')
}
