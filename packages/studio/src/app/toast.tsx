import { create } from 'zustand'
import { Button, IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import './toast.css'

interface Offer {
  readonly label: string
  readonly accept: () => Promise<unknown>
}

const useToast = create<{ readonly text: string | undefined; readonly offer: Offer | undefined }>()(() => ({
  text: undefined,
  offer: undefined,
}))
const hide = (): void => useToast.setState({ text: undefined, offer: undefined })

/** Shows why an action of the user failed, until the message is dismissed. */
export function showError(text: string): void {
  useToast.setState({ text, offer: undefined })
}

/** Shows the error if the work fails. */
export function showFailure(work: Promise<unknown>): void {
  work.catch((error: unknown) => showError(error instanceof Error ? error.message : String(error)))
}

/** Says what was done and offers to take it back, until the message is dismissed. */
export function offer(text: string, label: string, accept: () => Promise<unknown>): void {
  useToast.setState({ text, offer: { label, accept } })
}

export function Toast() {
  const { text, offer: offered } = useToast()
  if (text === undefined) return null
  return (
    <div
      className={`toast ${offered === undefined ? '' : 'offer'}`}
      role={offered === undefined ? 'alert' : 'status'}
      data-testid="toast"
    >
      <Icon name={offered === undefined ? 'problems' : 'trash'} />
      <span>{text}</span>
      {offered !== undefined && (
        <Button
          data-testid="undo"
          onClick={() => {
            hide()
            showFailure(offered.accept())
          }}
        >
          {offered.label}
        </Button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={hide} />
    </div>
  )
}
