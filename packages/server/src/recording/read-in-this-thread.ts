import { MillraceError } from '@millrace/core'
import { asking } from '../thread/asking.ts'
import type { FromImport, ImportedText, ToImport } from './import-thread.ts'

/** The work of a thread that reads one text: bytes come in pieces, rows go back as text, in pages. */
export async function readInThisThread<About>(read: (text: string) => Promise<ImportedText<About>>): Promise<void> {
  const { ask, end } = asking<FromImport<About>, ToImport>()
  const decoder = new TextDecoder()
  let text = ''
  for (let { bytes } = await ask({ kind: 'bytes' }); bytes !== undefined; { bytes } = await ask({ kind: 'bytes' }))
    text += decoder.decode(bytes, { stream: true })
  text += decoder.decode()
  try {
    const { about, pages } = await read(text)
    text = ''
    await ask({ kind: 'about', about })
    // Each page is let go of once it was sent.
    for (let page = pages.shift(); page !== undefined; page = pages.shift()) await ask({ kind: 'page', page })
    end({ kind: 'done' })
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error
    const { code, message, facts } = error
    end({ kind: 'refused', code, message, facts })
  }
}
