import { create } from 'zustand'

export const usePalette = create<{ readonly open: boolean }>()(() => ({ open: false }))

export const showPalette = (): void => usePalette.setState({ open: true })
export const hidePalette = (): void => usePalette.setState({ open: false })
