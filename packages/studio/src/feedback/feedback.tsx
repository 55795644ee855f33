import { type Feedback, type FeedbackState, type FeedbackTarget, feedbackOn, feedbackView } from '@millrace/core'
import { type SessionHandle, useView } from '@millrace/react'
import { createContext, useContext, useState } from 'react'
import { showFailure } from '../app/toast.tsx'
import { client } from '../session/client.ts'
import { isFile } from '../session/files.ts'
import { useSessions } from '../session/sessions.ts'
import { Button, IconButton } from '../ui/controls.tsx'
import { Time } from '../ui/time.tsx'
import './feedback.css'

/** The session whose messages and steps are rated. */
export const FeedbackContext = createContext<SessionHandle | undefined>(undefined)

/** Thumbs and a note about a message of the conversation. */
export function MessageFeedback({ about }: { readonly about: FeedbackTarget }) {
  const session = useContext(FeedbackContext)
  return session === undefined ? null : <FeedbackBar session={session} about={about} />
}

/** What persons think of one message or step, and the buttons to say it. A file can be read but not rated. */
export function FeedbackBar({ session, about }: { readonly session: SessionHandle; readonly about: FeedbackTarget }) {
  const state: FeedbackState = useView(session.log, feedbackView)
  const user = useSessions(({ caller }) => caller?.user)
  const [editing, setEditing] = useState(false)
  const given = feedbackOn(state, about)
  const mine = given.find(({ by }) => by === undefined || by === user)
  const canGive = !isFile(session.id)
  if (!canGive && given.length === 0) return null
  const give = (change: Pick<Feedback, 'rating' | 'note'>): void => {
    const body = { about, ...change }
    showFailure(client.request(`sessions/${encodeURIComponent(session.id)}/feedback`, { method: 'PUT', body }))
  }
  const rate = (rating: 'up' | 'down') => () =>
    give({ ...noteOf(mine), ...(mine?.rating === rating ? {} : { rating }) })
  return (
    <div className={`feedback ${given.length > 0 || editing ? 'given' : ''}`} data-testid="feedback">
      <span className="feedback-tools">
        <IconButton
          icon="thumbUp"
          label="Good"
          aria-pressed={mine?.rating === 'up'}
          disabled={!canGive}
          data-testid="feedback-up"
          onClick={rate('up')}
        />
        <IconButton
          icon="thumbDown"
          label="Bad"
          aria-pressed={mine?.rating === 'down'}
          disabled={!canGive}
          data-testid="feedback-down"
          onClick={rate('down')}
        />
        {canGive && !editing && (
          <button type="button" className="link" data-testid="feedback-note" onClick={() => setEditing(true)}>
            {mine?.note === undefined ? 'Add a note' : 'Edit the note'}
          </button>
        )}
      </span>
      {editing && (
        <NoteForm
          note={mine?.note ?? ''}
          onDone={(note) => {
            setEditing(false)
            if (note !== undefined) give({ ...ratingOf(mine), ...(note === '' ? {} : { note }) })
          }}
        />
      )}
      {given.map((each) => (
        <GivenFeedback key={each.by ?? ''} feedback={each} isMine={each === mine} editing={editing} />
      ))}
    </div>
  )
}

const ratingOf = (mine: Feedback | undefined): Pick<Feedback, 'rating'> =>
  mine?.rating === undefined ? {} : { rating: mine.rating }
const noteOf = (mine: Feedback | undefined): Pick<Feedback, 'note'> =>
  mine?.note === undefined ? {} : { note: mine.note }

const ratings = { up: 'good', down: 'bad' } as const

function GivenFeedback({
  feedback: { by, rating, note, at },
  isMine,
  editing,
}: {
  readonly feedback: Feedback
  readonly isMine: boolean
  readonly editing: boolean
}) {
  if (isMine && (note === undefined || editing)) return null
  return (
    <p className="feedback-given" data-testid="feedback-given">
      {note ?? (rating === undefined ? '' : ratings[rating])}
      <span className="faint">
        {' '}
        {isMine ? 'you' : (by ?? 'a person')}
        {!isMine && note !== undefined && rating !== undefined && `, ${ratings[rating]}`}, <Time at={at} />
      </span>
    </p>
  )
}

function NoteForm({ note, onDone }: { readonly note: string; readonly onDone: (note: string | undefined) => void }) {
  const [text, setText] = useState(note)
  return (
    <form
      className="feedback-form"
      onSubmit={(event) => {
        event.preventDefault()
        onDone(text.trim())
      }}
    >
      <textarea
        aria-label="Note"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field
        autoFocus
        rows={2}
        maxLength={4000}
        value={text}
        placeholder="What is right or wrong here? It is kept in the session."
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone(undefined)
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) onDone(text.trim())
          event.stopPropagation()
        }}
      />
      <span className="feedback-tools">
        <Button type="submit" data-testid="feedback-save">
          {text.trim() === '' && note !== '' ? 'Remove' : 'Save'}
        </Button>
        <button type="button" className="link" onClick={() => onDone(undefined)}>
          Cancel
        </button>
      </span>
    </form>
  )
}
