/** Next replaces each of these by its value when it builds, so they stand here in full. */
export const config = {
  adk: {
    /** Seed 003's flag: the canonical stream, or the flattened one of before. */
    enableCanonicalStream: process.env.NEXT_PUBLIC_ENABLE_ADK_CANONICAL_STREAM === 'true',
    appName: process.env.NEXT_PUBLIC_ADK_APP_NAME || 'research',
    defaultUser: process.env.NEXT_PUBLIC_ADK_DEFAULT_USER || 'default',
  },
  millrace: process.env.NEXT_PUBLIC_MILLRACE_URL || 'http://127.0.0.1:8000',
  legacyUrl: process.env.NEXT_PUBLIC_LEGACY_STREAM_URL || '/api/chat',
}
