import {
  type Call,
  type Calls,
  callBefore,
  type Json,
  type ModelRequest,
  modelAnswersOf,
  modelRequestOf,
} from '@millrace/core'
import { useMemo, useState } from 'react'
import type { ChangeTarget } from '../change/draft.ts'
import { EditButton } from '../change/edit-button.tsx'
import { Pill } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { diffLines } from './difference.ts'
import { prettyJson, requestWords, type Spoken, spokenOf, systemText, toolNames } from './words.ts'

type Form = 'pretty' | 'difference' | 'raw'
const forms = { pretty: 'Pretty', difference: 'Difference', raw: 'Raw' } as const

interface WordsProps {
  readonly call: Call
  readonly calls: Calls
  readonly session: string
}

/** What a model was told and what it answered: for people, as the difference to the agent's call before, or as JSON. */
export function ModelWords({ call, calls, session }: WordsProps) {
  const [form, setForm] = useState<Form>('pretty')
  const request = useMemo(() => modelRequestOf(calls, call.key), [calls, call.key])
  const answers = modelAnswersOf(calls, call)
  const before = callBefore(calls, call)
  return (
    <>
      <section className="panel-section" data-testid="step-prompt" aria-label="Prompt">
        <h3>
          Prompt
          <span className="spacer" />
          {request !== undefined && (
            <>
              <span className="step-forms">
                {(Object.keys(forms) as Form[]).map((each) => (
                  <button key={each} type="button" aria-pressed={each === form} onClick={() => setForm(each)}>
                    {forms[each]}
                  </button>
                ))}
              </span>
              <CopyButton text={() => prettyJson(request)} label="Copy the request as JSON" />
              <EditButton session={session} target={targetOf(call, request)} />
            </>
          )}
        </h3>
        {request === undefined && call.remote === true ? (
          <p className="nothing" data-testid="step-no-prompt">
            Another server called this model, and the log has only what came back: the other server does not send the
            prompt, or this server does not record prompts.
          </p>
        ) : request === undefined ? (
          <p className="nothing" data-testid="step-no-prompt">
            The log does not have the prompt. Start the server with <code>--record-prompts on</code> to record the
            prompts of new runs.
          </p>
        ) : (
          <PromptWords request={request} form={form} before={before && modelRequestOf(calls, before.key)} />
        )}
        {request?.omitted !== undefined && <p className="nothing">{request.omitted}</p>}
      </section>
      <section className="panel-section" data-testid="step-response" aria-label="Response">
        <h3>Response</h3>
        {answers.length === 0 && (
          <p className="nothing">{call.status === 'running' ? 'No answer yet.' : 'No answer.'}</p>
        )}
        {form === 'raw' ? <pre className="step-pre">{prettyJson(answers)}</pre> : <SpokenList contents={answers} />}
      </section>
    </>
  )
}

function targetOf({ run, call, agent }: Call, { system, contents }: ModelRequest): ChangeTarget {
  return { field: 'prompt', run, call, agent, system: system === undefined ? '' : systemText(system), contents }
}

interface RequestProps {
  readonly request: ModelRequest
  readonly form: Form
  readonly before: ModelRequest | undefined
}

function PromptWords({ request, form, before }: RequestProps) {
  if (form === 'raw') return <pre className="step-pre">{prettyJson(request)}</pre>
  if (form === 'difference') return <Difference request={request} before={before} />
  const { system, contents, tools } = request
  const names = toolNames(tools)
  return (
    <>
      {system !== undefined && (
        <details className="step-system" open={contents.length < 2}>
          <summary>System</summary>
          <pre className="step-pre">{systemText(system)}</pre>
        </details>
      )}
      {tools !== undefined && (
        <details className="step-system">
          <summary>
            Tools <Pill>{names.length}</Pill>{' '}
            <span className="faint ellipsis" title={names.join(', ')}>
              {names.join(', ')}
            </span>
          </summary>
          <pre className="step-pre">{prettyJson(tools)}</pre>
        </details>
      )}
      <SpokenList contents={contents} />
    </>
  )
}

function Difference({ request, before }: Omit<RequestProps, 'form'>) {
  const lines = useMemo(
    () => (before === undefined ? [] : diffLines(requestWords(before), requestWords(request))),
    [request, before],
  )
  if (before === undefined)
    return <p className="nothing">This is the first call of this agent whose request is in the log.</p>
  const changed = lines.filter(({ kind }) => kind !== 'same').length
  return (
    <>
      <p className="nothing">
        {changed === 0 ? 'The same words as in the call before.' : `${changed} lines differ from the call before.`}
      </p>
      <pre className="step-pre step-difference" data-testid="step-difference">
        {lines.map(({ kind, text }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two fixed texts never move
          <span key={i} className={kind}>
            {kind === 'added' ? '+ ' : kind === 'removed' ? '− ' : '  '}
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  )
}

/** Contents beyond the newest are opened on demand: a long conversation has thousands. */
const shown = 30

function SpokenList({ contents }: { readonly contents: readonly Json[] }) {
  const [all, setAll] = useState(false)
  const first = all ? 0 : Math.max(0, contents.length - shown)
  return (
    <ol className="step-spoken">
      {first > 0 && (
        <li>
          <button type="button" className="more" onClick={() => setAll(true)}>
            {first} earlier
          </button>
        </li>
      )}
      {contents.slice(first).map((content, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the contents of a request never move
        <SpokenRow key={first + i} spoken={spokenOf(content)} />
      ))}
    </ol>
  )
}

const titles = { call: 'calls', result: 'answers', text: '', thought: 'thinks', other: '' } as const

function SpokenRow({ spoken: { role, parts } }: { readonly spoken: Spoken }) {
  return (
    <li>
      <span className="step-role">{role}</span>
      {parts.map(({ kind, title, text }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a content never move
        <div key={i} className={`step-part ${kind}`}>
          {(title !== undefined || kind === 'thought') && (
            <span className="faint">
              {titles[kind]} {title}
            </span>
          )}
          <pre className="step-pre">{text}</pre>
        </div>
      ))}
    </li>
  )
}
