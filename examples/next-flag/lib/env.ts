/** Next replaces each `process.env` expression at build time, so the names must be written out in full. */
export const config = {
  adk: {
    /** True: the stream of canonical ADK events; false: the old stream of flattened events. */
    enableCanonicalStream: process.env.NEXT_PUBLIC_ENABLE_ADK_CANONICAL_STREAM === 'true',
    appName: process.env.NEXT_PUBLIC_ADK_APP_NAME || 'research',
    defaultUser: process.env.NEXT_PUBLIC_ADK_DEFAULT_USER || 'default',
  },
  millrace: process.env.NEXT_PUBLIC_MILLRACE_URL || 'http://127.0.0.1:8000',
  legacyUrl: process.env.NEXT_PUBLIC_LEGACY_STREAM_URL || '/api/chat',
}
