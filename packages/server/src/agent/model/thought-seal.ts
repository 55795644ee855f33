// The signatures of Claude's thoughts, as ADK keeps signatures: in base64. Each names its vendor, because a session may
// change models, and no vendor takes a signature of another one.

const thought = 'anthropic:thinking:'
const redaction = 'anthropic:redacted:'

export function sealThought(signature: string): string {
  return Buffer.from(thought + signature).toString('base64')
}

/** For a thought that the vendor encrypted. */
export function sealRedaction(data: string): string {
  return Buffer.from(redaction + data).toString('base64')
}

/** Empty for a signature of another vendor. */
export function openSeal(sealed: string): { readonly signature?: string; readonly redacted?: string } {
  const text = Buffer.from(sealed, 'base64').toString('utf8')
  if (text.startsWith(thought)) return { signature: text.slice(thought.length) }
  return text.startsWith(redaction) ? { redacted: text.slice(redaction.length) } : {}
}

export function isSealed(sealed: string): boolean {
  const { signature, redacted } = openSeal(sealed)
  return (signature ?? redacted) !== undefined
}
