/** The headers that protect browsers, for the few answers that are sent before any hook can set them. */
export const protectionHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'self'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}
