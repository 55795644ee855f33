import { type RefObject, useEffect, useRef } from 'react'

/**
 * Whether the pointer is pressed inside the element. A list that follows its end waits for the release: what was pressed
 * would otherwise move away before the click, and a selection of text would slip.
 */
export function usePressed(place: RefObject<HTMLElement | null>, onRelease: () => void): RefObject<boolean> {
  const pressed = useRef(false)
  const released = useRef(onRelease)
  released.current = onRelease
  useEffect(() => {
    const element = place.current
    const press = (): void => {
      pressed.current = true
    }
    const release = (): void => {
      if (!pressed.current) return
      pressed.current = false
      // The click comes after the release, and must find the same element.
      setTimeout(() => pressed.current || released.current(), 0)
    }
    element?.addEventListener('pointerdown', press)
    addEventListener('pointerup', release)
    addEventListener('pointercancel', release)
    return () => {
      element?.removeEventListener('pointerdown', press)
      removeEventListener('pointerup', release)
      removeEventListener('pointercancel', release)
    }
  }, [place])
  return pressed
}
