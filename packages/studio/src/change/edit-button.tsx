import { IconButton } from '../ui/controls.tsx'
import type { ChangeTarget } from './draft.ts'
import { openChange } from './open-change.ts'

/** Opens the editor of one thing of a run. */
export function EditButton({ session, target }: { readonly session: string; readonly target: ChangeTarget }) {
  return (
    <IconButton
      icon="pencil"
      label="Edit and run on"
      data-testid={`edit-${target.field}`}
      onClick={() => void openChange(session, target)}
    />
  )
}
