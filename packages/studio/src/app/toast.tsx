import { create } from 'zustand'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import './toast.css'

const useToast = create<{ readonly text: string | undefined }>()(() => ({ text: undefined }))

/** Shows why an action of the user failed, until the message is dismissed. */
export function showError(text: string): void {
  useToast.setState({ text })
}

/** Shows the error if the work fails. */
export function showFailure(work: Promise<unknown>): void {
  work.catch((error: unknown) => showError(error instanceof Error ? error.message : String(error)))
}

export function Toast() {
  const { text } = useToast()
  if (text === undefined) return null
  return (
    <div className="toast" role="alert" data-testid="toast">
      <Icon name="problems" />
      <span>{text}</span>
      <IconButton icon="close" label="Dismiss" onClick={() => useToast.setState({ text: undefined })} />
    </div>
  )
}
