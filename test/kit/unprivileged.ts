/**
 * For a child of `run-child.mjs` that must meet a folder it may not write to. Root may write anywhere, so under root the
 * child becomes another user before it runs, and any other user needs nothing.
 */
export const unprivileged: { readonly env?: NodeJS.ProcessEnv } =
  process.getuid?.() === 0 ? { env: { ...process.env, RUN_AS: '65534' } } : {}
