import { create } from 'zustand'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import './toast.css'

const useToast = create<{ readonly text: string | undefined }>()(() => ({ text: undefined }))

/** Something a person asked for did not work: they are told why, at once and until they have read it. */
export function complain(text: string): void {
  useToast.setState({ text })
}

export function showToast(work: Promise<unknown>): void {
  work.catch((error: unknown) => complain(error instanceof Error ? error.message : String(error)))
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
