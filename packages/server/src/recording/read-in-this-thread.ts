import { MillraceError } from '@millrace/core'
import { asking } from '../thread/asking.ts'
import type { FromImport, ImportedText, ToImport } from './import-thread.ts'
import { textDecoding } from './text-decoding.ts'

/** The work of a thread that reads one text: bytes come in pieces, rows go back as text, in pages. */
export async function readInThisThread<About>(
  read: (text: string) => Promise<ImportedText<About>>,
  isStrict = false,
): Promise<void> {
  const { ask, end } = asking<FromImport<About>, ToImport>()
  try {
    const { about, pages } = await read(await wholeText(ask, isStrict))
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

async function wholeText(ask: (message: { kind: 'bytes' }) => Promise<ToImport>, isStrict: boolean): Promise<string> {
  const decode = textDecoding(isStrict)
  let text = ''
  for (let { bytes } = await ask({ kind: 'bytes' }); bytes !== undefined; { bytes } = await ask({ kind: 'bytes' }))
    text += decode(bytes)
  return text + decode()
}
