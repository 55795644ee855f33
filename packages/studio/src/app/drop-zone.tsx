import { useEffect, useState } from 'react'
import { Icon } from '../ui/icon.tsx'
import { showFile } from './sidebar-foot.tsx'
import './drop-zone.css'

/** Lets the user drop a file anywhere on the page. */
export function DropZone() {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const holdsFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true
    const onOver = (event: DragEvent): void => {
      if (!holdsFile(event)) return
      event.preventDefault()
      setOver(true)
    }
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false)
    }
    const onDrop = (event: DragEvent): void => {
      setOver(false)
      const [file] = event.dataTransfer?.files ?? []
      if (file === undefined) return
      event.preventDefault()
      showFile(file)
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [])
  if (!over) return null
  return (
    <div className="drop-zone" role="status">
      <div>
        <Icon name="file" size={28} />
        <strong>Drop the file to open it</strong>
        <span>A session export, or a recorded stream in any dialect. Nothing is sent to the server.</span>
      </div>
    </div>
  )
}
