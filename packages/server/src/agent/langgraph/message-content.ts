import type { AdkPart } from '@millrace/core'

/** A part of a LangChain message that is not a plain text. */
export type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string }

/**
 * What a person sent, as the content of a LangChain message: a text where there is only text, else LangChain's own blocks,
 * which its models of every provider read.
 */
export function messageContent(parts: readonly AdkPart[]): string | ContentBlock[] {
  const blocks = parts.flatMap(mediaBlock)
  if (blocks.length === 0) return parts.map((part) => part.text ?? '').join('')
  return parts.flatMap((part) => (part.text === undefined ? mediaBlock(part) : [{ type: 'text', text: part.text }]))
}

function mediaBlock({ inlineData, fileData }: AdkPart): readonly ContentBlock[] {
  const { data } = inlineData ?? {}
  if (data !== undefined) return [blockOf(inlineData, { source_type: 'base64', data })]
  const { fileUri: url } = fileData ?? {}
  return url === undefined ? [] : [blockOf(fileData, { source_type: 'url', url })]
}

function blockOf(
  { mimeType = '', displayName }: { readonly mimeType?: string; readonly displayName?: string } = {},
  source: object,
): ContentBlock {
  const kind = mimeType.split('/')[0] ?? ''
  return {
    type: kind === 'image' || kind === 'audio' ? kind : 'file',
    ...source,
    ...(mimeType === '' ? {} : { mime_type: mimeType }),
    // Some providers want the name of a file.
    ...(displayName === undefined ? {} : { metadata: { filename: displayName, name: displayName } }),
  }
}
